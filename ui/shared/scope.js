// SPDX-License-Identifier: Apache-2.0
/**
 * What all views look at: the steps as they go on, without start, warm-up and end, or the whole run. A switch in the
 * bar above all views changes it; it is the option `scope` of the state. A trace without steps has no switch.
 */

import {element} from "./dom.js";

/** @typedef {"steps" | "whole"} Scope */

/** @type {{scope: Scope, text: string, about: string}[]} */
const SCOPES = [
	{scope: "steps", text: "Steps", about: "all views show the steps, without start, warm-up and end"},
	{scope: "whole", text: "Whole run", about: "all views show the whole run"},
];

/**
 * The switch; null where there are no steps.
 * @param {import("./state.js").Store} store
 */
export function createScopeSwitch(store) {
	if (!store.steady)
		return null;
	const buttons = SCOPES.map(({scope, text, about}) => ({scope, button: element("button",
		{title: about, click: () => store.changeScope(scope)}, text)}));
	const refresh = () => {
		for (const {scope, button} of buttons)
			button.setAttribute("aria-pressed", String(scope === store.scope));
	};
	store.subscribe(refresh);
	refresh();
	return element("div", {class: "scope", role: "group", "aria-label": "What all views show"},
		...buttons.map(({button}) => button));
}
