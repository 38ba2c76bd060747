// SPDX-License-Identifier: Apache-2.0
/**
 * Creates elements. Texts from a trace may contain anything (a device kernel may be called <script>), so they become
 * only text nodes and attributes, never markup.
 */

/**
 * @typedef {Record<string, string | number | boolean | null | undefined | ((event: any) => void)>} Attributes
 * @typedef {Node | string | number | null | undefined | false} Child
 */

const SVG = "http://www.w3.org/2000/svg";

/**
 * @template {Element} E
 * @param {E} made
 * @param {Attributes} attributes
 * @param {Child[]} children
 * @returns {E}
 */
function fill(made, attributes, children) {
	for (const [name, value] of Object.entries(attributes)) {
		if (typeof value === "function")
			made.addEventListener(name, value);
		else if (value !== null && value !== undefined && value !== false)
			made.setAttribute(name, value === true ? "" : String(value));
	}
	append(made, ...children);
	return made;
}

/**
 * An HTML element: attributes by name, listeners by event ({click: f}), children as nodes or texts.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Attributes} [attributes]
 * @param {Child[]} children
 */
export function element(tag, attributes = {}, ...children) {
	return fill(document.createElement(tag), attributes, children);
}

/**
 * The same of SVG.
 * @param {string} tag
 * @param {Attributes} [attributes]
 * @param {Child[]} children
 * @returns {SVGElement}
 */
export function drawing(tag, attributes = {}, ...children) {
	return fill(/** @type {SVGElement} */ (document.createElementNS(SVG, tag)), attributes, children);
}

/**
 * @param {Node} parent
 * @param {Child[]} children
 */
export function append(parent, ...children) {
	for (const child of children) {
		if (child !== null && child !== undefined && child !== false)
			parent.appendChild(child instanceof Node ? child : document.createTextNode(String(child)));
	}
}

/**
 * @param {Element} parent
 * @param {Child[]} children
 */
export function replaceContent(parent, ...children) {
	parent.replaceChildren();
	append(parent, ...children);
}

/**
 * An error message, announced at once.
 * @param {unknown} error
 */
export function problem(error) {
	return element("p", {class: "page warning", role: "alert"}, error instanceof Error ? error.message : String(error));
}
