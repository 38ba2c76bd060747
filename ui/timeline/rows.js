// SPDX-License-Identifier: Apache-2.0
/**
 * The rows of the timeline and their places: the groups of the trace, and the bands of open groups.
 *
 *     ▾ python (pid 12)              group                   one row each; `top` counts from the first
 *       ▾ MainThread                 group
 *           operations               band, as high as its lanes
 *           runtime calls            band
 *       ▸ worker                     closed group: its bands as stripes, in small
 *     CPU 0                          a group of one band and nothing else: the band itself
 *
 * Groups that are pinned come first and stay in sight while the others are scrolled under them: only the others are
 * `top` pixels higher on the screen. Opening or closing a group makes a new layout; a layout never changes.
 */

/**
 * @typedef {object} Band
 * @property {number} band
 * @property {string} key
 * @property {string} table
 * @property {number | null} track
 * @property {number | null} device
 * @property {string} title
 * @property {"slices" | "series"} kind
 * @property {number} lanes
 * @property {number} count
 * @property {string | null} unit
 * @property {import("../shared/tables.js").Description} as how its table is shown
 *
 * @typedef {object} Group
 * @property {string} id
 * @property {string} kind
 * @property {string} title
 * @property {string} about
 * @property {string | null} parent
 * @property {number | null} track
 * @property {number} busy_ns
 * @property {number[]} bands
 *
 * @typedef {object} Row
 * @property {string} key
 * @property {Group} group
 * @property {Band | null} band null: of a group
 * @property {boolean | null} isOpen of a group: its bands are shown; of a band: all its lanes; null: as ever
 * @property {Band[]} stripes what a closed group shows
 * @property {number} depth
 * @property {number} top
 * @property {number} height
 * @property {number} laneHeight
 * @property {number} lanes that are shown
 * @property {boolean} isPinned
 */

const GROUP_HEIGHT = 22;
const SERIES_HEIGHT = 48;
const LANE_HEIGHT = 18;
const PADDING = 3;
const STRIPES = 4;
const OPEN_THREADS = 6;
const OPEN_PARENTS = 8;
/** Bands have no more lanes than this unless they are opened. */
const LANES = 6;
/** Those whose slices have no text, such as disk requests, have fewer. */
const THIN_LANES = 2;

/** @param {Band} band how many lanes it has until it is opened */
export const firstLanes = (band) => (band.as?.lane_height ? THIN_LANES : LANES);

/**
 * The groups as a tree, and which are open where nobody said otherwise: the busiest threads.
 */
export class Groups {
	/** @param {{groups: Group[], bands: Band[]}} trace */
	constructor({groups, bands}) {
		this.all = groups;
		this.bands = bands;
		this.byId = new Map(groups.map((group) => [group.id, group]));
		/** @type {Map<string | null, Group[]>} */
		this.children = new Map();
		for (const group of groups) {
			const siblings = this.children.get(group.parent);
			if (siblings)
				siblings.push(group);
			else
				this.children.set(group.parent, [group]);
		}
		/** The group of a thread, and the first band of any track. */
		this.groupOfTrack = new Map(groups.filter(({track}) => track !== null).map((group) => [group.track, group]));
		this.bandOfTrack = new Map([...bands].reverse().map((band) => [band.track, band]));
		/**
		 * Of the queues of a device: what an analysis says of the time between.
		 * @type {Map<number, Band>}
		 */
		this.idleOfQueue = new Map(groups.flatMap((group) => {
			const idle = group.kind === "device" && group.bands.find((number) => bands[number].as.is_derived);
			return typeof idle !== "number" ? [] : group.bands.filter((number) => !bands[number].as.is_derived)
				.map((number) => [number, bands[idle]]);
		}));
		this.openAtFirst = this.#chooseOpen();
	}

	/** @param {Group} group */
	childrenOf(group) {
		return this.children.get(group.id) ?? [];
	}

	/**
	 * A group of one band needs no row beside the band's.
	 * @param {Group} group
	 */
	isSingle(group) {
		return group.bands.length === 1 && this.childrenOf(group).length === 0;
	}

	/** @param {Group} group @returns {Generator<Group>} */
	*ancestors(group) {
		for (let id = group.parent; id !== null; ) {
			const parent = this.byId.get(id);
			if (!parent)
				return;
			yield parent;
			id = parent.parent;
		}
	}

	/** @returns {Set<string>} */
	#chooseOpen() {
		const threads = this.all.filter(({kind}) => kind === "thread");
		const busiest = [...threads].sort((a, b) => b.busy_ns - a.busy_ns).slice(0, OPEN_THREADS);
		const open = new Set(busiest.map(({id}) => id));
		for (const thread of busiest) {
			for (const {id} of this.ancestors(thread))
				open.add(id);
		}
		for (const kind of ["device", "process", "memory", "steps"]) {
			for (const {id} of this.all.filter((group) => group.kind === kind).slice(0, OPEN_PARENTS))
				open.add(id);
		}
		return open;
	}
}

/** @param {Band} band */
function laneHeight(band) {
	return band.kind === "series" ? SERIES_HEIGHT : band.as.lane_height ?? LANE_HEIGHT;
}

/**
 * What decides which rows there are.
 * @typedef {object} Choice
 * @property {(group: Group) => boolean} isOpen
 * @property {(band: Band) => boolean} hasAllLanes
 * @property {(group: Group) => boolean} isWanted by the filter
 * @property {(group: Group) => boolean} isPinned
 */

export class Layout {
	/**
	 * @param {Groups} groups
	 * @param {Choice} choice
	 */
	constructor(groups, choice) {
		this.groups = groups;
		this.choice = choice;
		/** @type {Row[]} */
		this.rows = [];
		/**
		 * Where a band is drawn; of a closed group its row.
		 * @type {Map<number, Row>}
		 */
		this.rowOfBand = new Map();
		/** @type {Map<string, Row>} */
		this.rowOfGroup = new Map();
		this.height = 0;
		this.isPinning = true;
		for (const group of groups.all.filter(choice.isPinned))
			this.#add(group, 0);
		this.isPinning = false;
		this.pinnedHeight = this.height;
		this.pinnedRows = this.rows.length;
		for (const group of groups.children.get(null) ?? [])
			this.#add(group, 0);
	}

	/**
	 * @param {Group} group
	 * @param {number} depth
	 */
	#add(group, depth) {
		if (!this.choice.isWanted(group) || this.rowOfGroup.has(group.id) ||
			(!this.isPinning && this.choice.isPinned(group)))
			return;
		const bands = group.bands.map((number) => this.groups.bands[number]);
		if (this.groups.isSingle(group)) {
			this.#push(group.id, group, bands[0], depth);
			return;
		}
		const open = this.choice.isOpen(group);
		const within = open ? [] : this.#bandsWithin(group);
		const stripes = within.filter(({kind}) => kind === "slices").slice(0, STRIPES);
		const row = this.#push(group.id, group, null, depth, open, stripes);
		for (const band of within.filter(({band: number}) => !this.rowOfBand.has(number)))
			this.rowOfBand.set(band.band, row);
		if (!open) {
			this.#hide(group, row);
			return;
		}
		for (const band of bands)
			this.#push(`${group.id}/${band.key}`, group, band, depth + 1);
		for (const child of this.groups.childrenOf(group))
			this.#add(child, depth + 1);
	}

	/**
	 * @param {string} key
	 * @param {Group} group
	 * @param {Band | null} band
	 * @param {number} depth
	 * @param {boolean | null} isOpen
	 * @param {Band[]} stripes
	 * @returns {Row}
	 */
	#push(key, group, band, depth, isOpen = null, stripes = []) {
		const most = band ? firstLanes(band) : 0;
		const isTall = band !== null && band.lanes > most;
		const hasAll = !isTall || this.choice.hasAllLanes(band);
		const lanes = band && (hasAll ? Math.max(band.lanes, 1) : most);
		const height = band ? laneHeight(band) : GROUP_HEIGHT;
		const row = {key, group, band, depth, stripes, isOpen: isTall ? hasAll : isOpen, top: this.height,
			height: band ? height * (lanes ?? 1) + PADDING : height, laneHeight: height, lanes: lanes ?? 0,
			isPinned: this.isPinning};
		this.rows.push(row);
		this.height += row.height;
		if (band)
			this.rowOfBand.set(band.band, row);
		if (!this.rowOfGroup.has(group.id))
			this.rowOfGroup.set(group.id, row);
		return row;
	}

	/** @param {Group} group @returns {Band[]} */
	#bandsWithin(group) {
		return [...group.bands.map((number) => this.groups.bands[number]),
			...this.groups.childrenOf(group).flatMap((child) => this.#bandsWithin(child))];
	}

	/** @param {Group} group @param {Row} row of the closed group around it */
	#hide(group, row) {
		for (const child of this.groups.childrenOf(group)) {
			if (!this.rowOfGroup.has(child.id))
				this.rowOfGroup.set(child.id, row);
			this.#hide(child, row);
		}
	}

	/** @param {number} y @returns {number} the index of the row there, or the nearest */
	indexAt(y) {
		let low = 0;
		let high = this.rows.length;
		while (low < high) {
			const middle = (low + high) >> 1;
			if (this.rows[middle].top + this.rows[middle].height <= y)
				low = middle + 1;
			else
				high = middle;
		}
		return Math.min(low, this.rows.length - 1);
	}

	/**
	 * What is on the screen: first what scrolls, then what lies over it.
	 * @param {number} top how far it is scrolled
	 * @param {number} height
	 * @returns {Row[]}
	 */
	inSight(top, height) {
		if (!this.rows.length)
			return [];
		const first = Math.max(this.indexAt(top + this.pinnedHeight), this.pinnedRows);
		return [...this.rows.slice(first, this.indexAt(top + height) + 1), ...this.rows.slice(0, this.pinnedRows)];
	}

	/**
	 * The height in the layout of one on the screen.
	 * @param {number} y
	 * @param {number} top how far it is scrolled
	 */
	heightAt(y, top) {
		return y < this.pinnedHeight ? y : y + top;
	}

	/**
	 * The row at a height on the screen, if there is one.
	 * @param {number} y
	 * @param {number} top
	 */
	rowAt(y, top) {
		const at = this.heightAt(y, top);
		const row = this.rows[this.indexAt(at)];
		return row && at < row.top + row.height ? row : null;
	}

	/**
	 * Where slices of a lane are drawn; of a lane that is not shown, below the others.
	 * @param {number} band
	 * @param {number} lane
	 * @returns {{y: number, height: number, isPinned: boolean} | null} null: the filter hides it
	 */
	place(band, lane) {
		const row = this.rowOfBand.get(band);
		return row ? {...placeInRow(row, band, lane), isPinned: row.isPinned} : null;
	}

	/**
	 * Where a line through a track passes: through the heading of its thread, or below the slices of a queue.
	 * @param {number} track
	 * @param {number} top how far it is scrolled
	 * @returns {number | null} on the screen
	 */
	heightOfTrack(track, top) {
		const group = this.groups.groupOfTrack.get(track);
		const heading = group && this.rowOfGroup.get(group.id);
		if (heading && !heading.band)
			return onScreen(heading, heading.top, top) + heading.height / 2;
		const band = this.groups.bandOfTrack.get(track);
		const row = heading ?? (band && this.rowOfBand.get(band.band));
		return row ? onScreen(row, row.top, top) + row.height - PADDING : null;
	}
}

/**
 * Where a height of a row is on the screen.
 * @param {{isPinned: boolean}} row
 * @param {number} y
 * @param {number} top how far the layout is scrolled
 */
export const onScreen = ({isPinned}, y, top) => (isPinned ? y : y - top);

/**
 * @param {Row} row
 * @param {number} band
 * @param {number} lane
 */
export function placeInRow(row, band, lane) {
	if (row.band)
		return {y: row.top + 1 + Math.min(lane, row.lanes) * row.laneHeight,
			height: lane < row.lanes ? row.laneHeight - 1 : PADDING - 1};
	const room = row.height - 2 * PADDING;
	const stripe = row.stripes.findIndex((each) => each.band === band);
	if (stripe < 0)
		return {y: row.top + PADDING, height: room};
	const height = Math.floor(room / row.stripes.length);
	return {y: row.top + PADDING + stripe * height, height};
}

/**
 * What is drawn at a height of a row.
 * @param {Row} row
 * @param {number} y
 * @returns {{band: Band, lane: number} | null}
 */
export function laneAt(row, y) {
	const lane = Math.floor((y - row.top - 1) / row.laneHeight);
	if (row.band)
		return {band: row.band, lane: Math.min(Math.max(lane, 0), row.lanes - 1)};
	const height = Math.floor((row.height - 2 * PADDING) / Math.max(row.stripes.length, 1));
	const stripe = row.stripes[Math.floor((y - row.top - PADDING) / height)];
	return stripe ? {band: stripe, lane: 0} : null;
}
