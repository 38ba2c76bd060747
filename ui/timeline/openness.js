// SPDX-License-Identifier: Apache-2.0
/**
 * Which groups are open. The URL lists only differences from the initial state, in the options `open` and `closed`,
 * the bands that show all their lanes, in `lanes`, and the groups that stay in sight, in `pinned`.
 */

import {Layout} from "./rows.js";

/** @param {string | undefined} option @returns {Set<string>} */
const listed = (option) => new Set(option ? option.split(",") : []);
/** @param {Set<string>} ids */
const written = (ids) => (ids.size ? [...ids].join(",") : null);

/** @typedef {import("./rows.js").Group} Group */

export class Openness {
	/**
	 * @param {import("./rows.js").Groups} groups
	 * @param {import("../shared/state.js").Store} store
	 */
	constructor(groups, store) {
		this.groups = groups;
		this.store = store;
	}

	/** A layout for the state as it is now; filtered groups keep those around them and those within. */
	layOut() {
		const {options} = this.store.state;
		const open = listed(options.open);
		const closed = listed(options.closed);
		const {found, around} = this.#find((options.tracks ?? "").toLowerCase());
		const all = listed(options.lanes);
		const pinned = listed(options.pinned);
		return new Layout(this.groups, {
			isOpen: ({id}) => around.has(id) || open.has(id) || (this.groups.openAtFirst.has(id) && !closed.has(id)),
			hasAllLanes: ({key}) => all.has(key),
			isWanted: ({id}) => found.has(id) || around.has(id),
			isPinned: ({id}) => pinned.has(id),
		});
	}

	/**
	 * The groups that a filter leaves.
	 * @param {string} text "": all
	 */
	#find(text) {
		/** @type {Set<string>} */
		const found = new Set();
		/** @type {Set<string>} */
		const around = new Set();
		for (const group of this.groups.all) {
			const isFound = `${group.title} ${group.about}`.toLowerCase().includes(text);
			/* Parents come before their children. */
			if (isFound || (group.parent !== null && found.has(group.parent)))
				found.add(group.id);
			if (isFound && text) {
				for (const {id} of this.groups.ancestors(group))
					around.add(id);
			}
		}
		return {found, around};
	}

	/**
	 * @param {Group[]} groups
	 * @param {boolean} isOpen
	 */
	set(groups, isOpen) {
		const {options} = this.store.state;
		const open = listed(options.open);
		const closed = listed(options.closed);
		for (const group of groups) {
			const {id} = group;
			if (this.groups.isSingle(group))
				continue;
			open.delete(id);
			closed.delete(id);
			if (isOpen !== this.groups.openAtFirst.has(id))
				(isOpen ? open : closed).add(id);
		}
		if (written(open) !== (options.open ?? null) || written(closed) !== (options.closed ?? null))
			this.store.update({options: {open: written(open), closed: written(closed)}});
	}

	/**
	 * Shows all lanes of a band, or the first.
	 * @param {import("./rows.js").Band} band
	 * @param {boolean} hasAll
	 */
	setLanes({key}, hasAll) {
		const all = listed(this.store.state.options.lanes);
		if (all.has(key) === hasAll)
			return;
		if (hasAll)
			all.add(key);
		else
			all.delete(key);
		this.store.update({options: {lanes: written(all)}});
	}

	/** @param {Group} group */
	isPinned({id}) {
		return listed(this.store.state.options.pinned).has(id);
	}

	/**
	 * Pins a group, or makes it one of the others again.
	 * @param {Group} group
	 */
	togglePin({id}) {
		const pinned = listed(this.store.state.options.pinned);
		if (!pinned.delete(id))
			pinned.add(id);
		this.store.update({options: {pinned: written(pinned)}});
	}

	/**
	 * Opens what is around a group, and the group itself.
	 * @param {Group} group
	 */
	reveal(group) {
		this.set([group, ...this.groups.ancestors(group)], true);
	}
}
