// SPDX-License-Identifier: Apache-2.0
/** Light and dark: as the system says, or as the button says, which is remembered. */

import {element} from "./dom.js";

const KEY = "millrace-theme";

export function isDark() {
	const chosen = document.documentElement.dataset.theme;
	return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

/**
 * Told when colours have changed; canvases then draw themselves anew.
 * @param {() => void} listener
 */
export function onThemeChange(listener) {
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", listener);
	window.addEventListener("millrace-theme", listener);
}

/**
 * The value of a colour variable of the style sheet, for canvases.
 * @param {string} name such as "--text"
 */
export function themeColour(name) {
	return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function remembered() {
	try {
		return localStorage.getItem(KEY);
	} catch {
		return null; /* a browser may forbid it */
	}
}

/** @param {string} theme */
function apply(theme) {
	document.documentElement.dataset.theme = theme;
	window.dispatchEvent(new Event("millrace-theme"));
	try {
		localStorage.setItem(KEY, theme);
	} catch {
		/* then it is not remembered */
	}
}

export function createThemeButton() {
	const theme = remembered();
	if (theme === "dark" || theme === "light")
		document.documentElement.dataset.theme = theme;
	return element("button", {"aria-label": "Light or dark", title: "Light or dark",
		click: () => apply(isDark() ? "light" : "dark")}, "◐");
}
