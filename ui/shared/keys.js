// SPDX-License-Identifier: Apache-2.0
/**
 * Keys. Every key is declared with a description, and the help page is made from the declarations. The keys are those
 * of Perfetto and chrome://tracing.
 */

import {element} from "./dom.js";

/**
 * @typedef {object} Key
 * @property {string[]} keys as KeyboardEvent calls them, letters small: "w", "ArrowLeft"; "Shift+n", "Ctrl+f"
 * @property {string} about what they do
 * @property {string} [view] only there; otherwise everywhere
 * @property {(event: KeyboardEvent) => void} run
 *
 * @typedef {{gesture: string, about: string, view: string}} Gesture
 */

/** @param {KeyboardEvent} event */
function nameOf(event) {
	const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
	const isLetter = key.length > 1 || key.toLowerCase() !== key.toUpperCase();
	return (event.ctrlKey || event.metaKey ? "Ctrl+" : "") + (event.altKey ? "Alt+" : "") +
		(event.shiftKey && isLetter ? "Shift+" : "") + key;
}

/** @param {EventTarget | null} target */
function isTyping(target) {
	return target instanceof HTMLElement &&
		(target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}

/**
 * Whether a key works a control that has the focus.
 * @param {KeyboardEvent} event
 */
function isActivating({key, target}) {
	return (key === "Enter" || key === " ") && target instanceof HTMLElement &&
		/^(BUTTON|A|SUMMARY)$/.test(target.tagName);
}

export class Keys {
	/** @param {() => string} currentView */
	constructor(currentView) {
		this.currentView = currentView;
		/** @type {Key[]} */
		this.declared = [];
		/** @type {Gesture[]} */
		this.gestures = [];
		document.addEventListener("keydown", (event) => this.#press(event));
	}

	/** @param {Key[]} keys */
	add(...keys) {
		this.declared.push(...keys);
	}

	/**
	 * What mouse and trackpad do, for the help page.
	 * @param {Gesture[]} gestures
	 */
	addGestures(...gestures) {
		this.gestures.push(...gestures);
	}

	/** @param {KeyboardEvent} event */
	#press(event) {
		if (event.defaultPrevented || isTyping(event.target) || isActivating(event) ||
			document.querySelector("dialog[open]"))
			return;
		const name = nameOf(event);
		const view = this.currentView();
		const key = this.declared.find((each) =>
			each.keys.includes(name) && (each.view === undefined || each.view === view));
		if (!key)
			return;
		event.preventDefault();
		key.run(event);
	}

	/** Shows the page that lists them. */
	showHelp() {
		const title = "Keys and gestures";
		const views = ["", ...new Set([...this.declared, ...this.gestures].map((each) => each.view ?? ""))];
		/* The button comes first: the browser gives it the focus, and would scroll down to one at the end. */
		const button = element("button", {}, "Close");
		const dialog = element("dialog", {class: "help", "aria-label": title},
			element("header", {}, element("h2", {}, title), button),
			...[...new Set(views)].map((view) => this.#section(view)));
		button.addEventListener("click", () => dialog.close());
		dialog.addEventListener("close", () => dialog.remove());
		document.body.append(dialog);
		dialog.showModal();
	}

	/** @param {string} view */
	#section(view) {
		const here = (/** @type {{view?: string}} */ each) => (each.view ?? "") === view;
		const row = (/** @type {string[]} */ names, /** @type {string} */ about) => element("tr", {},
			element("td", {}, ...names.flatMap((name, i) => [i > 0 && " ", element("kbd", {}, shownKey(name))])),
			element("td", {}, about));
		return element("section", {},
			element("h3", {}, view ? view[0].toUpperCase() + view.slice(1) : "Everywhere"),
			element("table", {}, element("tbody", {},
				...this.declared.filter(here).map((key) => row(key.keys, key.about)),
				...this.gestures.filter(here).map((each) => row([each.gesture], each.about)))));
	}
}

/** @param {string} name */
function shownKey(name) {
	return name.replace("ArrowLeft", "←").replace("ArrowRight", "→").replace("ArrowUp", "↑")
		.replace("ArrowDown", "↓").replace("Escape", "Esc").replace(/^ $/, "Space");
}
