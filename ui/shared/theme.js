// SPDX-License-Identifier: Apache-2.0
/**
 * Light and dark theme: the system's preference, or the user's choice, which the browser remembers. The style sheet
 * uses the attribute data-theme.
 */

import {element} from "./dom.js";

const KEY = "millrace-theme";
const system = matchMedia("(prefers-color-scheme: dark)");

function remembered() {
	try {
		return localStorage.getItem(KEY);
	} catch {
		return null; /* a browser may forbid it */
	}
}

/** @param {string} theme */
function remember(theme) {
	try {
		localStorage.setItem(KEY, theme);
	} catch {
		/* then it is not remembered */
	}
}

/** @param {string} theme */
function show(theme) {
	document.documentElement.dataset.theme = theme;
	window.dispatchEvent(new Event("millrace-theme"));
}

function showPreferred() {
	const theme = remembered() ?? (system.matches ? "dark" : "light");
	show(theme === "dark" ? "dark" : "light");
}
system.addEventListener("change", showPreferred);
showPreferred();

/**
 * Told when colours have changed; canvases then draw themselves anew.
 * @param {() => void} listener
 */
export function onThemeChange(listener) {
	window.addEventListener("millrace-theme", listener);
}

/**
 * The value of a colour variable of the style sheet, for canvases.
 * @param {string} name such as "--text"
 */
export function themeColour(name) {
	return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function change() {
	const theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
	remember(theme);
	show(theme);
}

export function createThemeButton() {
	return element("button", {"aria-label": "Light or dark theme", title: "Light or dark theme", click: change}, "◐");
}
