// SPDX-License-Identifier: Apache-2.0
/**
 * A graph as the server has laid it out: items (operations, closed scopes, and open scopes, which are boxes around
 * others) and the edges between them. Finds items by place, and their neighbours.
 */

/**
 * @typedef {import("./camera.js").Rectangle} Rectangle
 *
 * @typedef {object} Figures
 * @property {number} count
 * @property {number} total_ns
 * @property {number} self_ns
 * @property {number} device_ns
 * @property {number} critical_ns
 *
 * @typedef {Rectangle & Figures & {
 *     id: string, parent: string | null, node: number | null, scope: number | null, title: string, name: string,
 *     type: string | null, device: string | null, is_on_several: boolean, children: number, is_open: boolean,
 *     variables: number,
 *     depth: number, into: Edge[], out: Edge[]}} Item
 *
 * A part of a box in which all items are of one device, or, where it is null, of several or of none.
 * @typedef {Rectangle & {device: string | null}} Lane
 *
 * @typedef {Rectangle & {from: Item, to: Item, kind: "data" | "control", count: number, bytes: number | null,
 *     is_back: boolean, is_cut: boolean, isCrossing: boolean, points: number[]}} Edge
 *
 * An operation that is searched for, and the scopes around it, the innermost first.
 * @typedef {{node: number, scopes: number[]}} Found
 */

/** @param {Rectangle} a @param {Rectangle} b */
export function meet(a, b) {
	return a.x <= b.x + b.width && b.x <= a.x + a.width && a.y <= b.y + b.height && b.y <= a.y + a.height;
}

/**
 * @param {number[]} points x and y in turn
 * @returns {Rectangle} around them
 */
function around(points) {
	let left = Infinity, top = Infinity, right = -Infinity, bottom = -Infinity;
	for (let i = 0; i < points.length; i += 2) {
		left = Math.min(left, points[i]);
		right = Math.max(right, points[i]);
		top = Math.min(top, points[i + 1]);
		bottom = Math.max(bottom, points[i + 1]);
	}
	return {x: left, y: top, width: right - left, height: bottom - top};
}

/**
 * Whether what one gives the other has to be copied.
 * @param {Item} from
 * @param {Item} to
 */
const isCrossing = (from, to) => Boolean(from.device && to.device) && from.device !== to.device &&
	!from.is_on_several && !to.is_on_several;

/* In pixels of the picture. */
const LANE_ROOM = 8;
const BOX_TITLE = 18;

/** @param {Item} item what all items of its lane have in common; null: those of several devices, or of none */
const laneOf = ({device, is_on_several}) => (is_on_several ? null : device);

/** @param {Rectangle} rectangle */
const middle = (rectangle) => ({x: rectangle.x + rectangle.width / 2, y: rectangle.y + rectangle.height / 2});

export class Picture {
	/** @param {any} answer of `graph` */
	constructor(answer) {
		this.graph = answer.graph;
		this.name = answer.name;
		this.layoutMs = answer.ms;
		/** @type {Rectangle} */
		this.page = {x: 0, y: 0, width: answer.width, height: answer.height};
		/**
		 * Boxes before what is in them.
		 * @type {Item[]}
		 */
		this.items = answer.nodes;
		/** @type {Map<string, Item>} */
		this.byId = new Map(this.items.map((item) => [item.id, item]));
		for (const item of this.items) {
			item.depth = item.parent === null ? 0 : this.get(item.parent).depth + 1;
			item.into = [];
			item.out = [];
		}
		/** @type {Edge[]} */
		this.edges = answer.edges.map((/** @type {any} */ edge) =>
			({...edge, ...around(edge.points), from: this.get(edge.from), to: this.get(edge.to),
				isCrossing: isCrossing(this.get(edge.from), this.get(edge.to))}));
		this.hasLanes = answer.has_lanes === true;
		/** @type {Lane[]} */
		this.lanes = this.hasLanes ? this.#findLanes() : [];
		/** Whether there is more than one. */
		this.hasDevices = new Set(this.items.map(laneOf).filter(Boolean)).size > 1;
		/** How many edges lead from one device to another. */
		this.crossing = this.edges.filter((edge) => edge.isCrossing).length;
		for (const edge of this.edges) {
			edge.from.out.push(edge);
			edge.to.into.push(edge);
		}
		/** Largest values, for colours and widths. */
		this.most = {
			self_ns: this.#most((item) => item.self_ns),
			device_ns: this.#most((item) => item.device_ns),
			critical_ns: this.#most((item) => item.critical_ns),
			bytes: this.edges.reduce((most, edge) => Math.max(most, edge.bytes ?? 0), 0),
		};
	}

	/** Where the items of each box that are of one device stand; of a box with one device, none. */
	#findLanes() {
		/** @type {Map<string | null, Map<string | null, Item[]>>} */
		const boxes = new Map();
		for (const item of this.items) {
			const lanes = boxes.get(item.parent) ?? new Map();
			lanes.set(laneOf(item), [...lanes.get(laneOf(item)) ?? [], item]);
			boxes.set(item.parent, lanes);
		}
		return [...boxes].filter(([, lanes]) => lanes.size > 1).flatMap(([parent, lanes]) => {
			const box = parent === null ? this.page : this.get(parent);
			return [...lanes].map(([device, items]) => {
				const left = Math.min(...items.map(({x}) => x)) - LANE_ROOM;
				const right = Math.max(...items.map(({x, width}) => x + width)) + LANE_ROOM;
				return {device, x: left, width: right - left, y: box.y + BOX_TITLE,
					height: box.height - BOX_TITLE - LANE_ROOM};
			});
		});
	}

	/**
	 * What stands highest in a box.
	 * @param {Item} box
	 */
	firstIn(box) {
		return this.items.filter(({parent}) => parent === box.id).reduce((/** @type {Item | undefined} */ best, item) =>
			(best && best.y <= item.y ? best : item), undefined);
	}

	/** @param {(item: Item) => number} value of what is no box */
	#most(value) {
		return this.items.reduce((most, item) => (item.is_open ? most : Math.max(most, value(item))), 0);
	}

	/** What stands highest. */
	get first() {
		return this.items.reduce((/** @type {Item | undefined} */ best, item) =>
			(best && best.y <= item.y ? best : item), undefined);
	}

	/**
	 * @param {string} id
	 * @returns {Item} that is there
	 */
	get(id) {
		return /** @type {Item} */ (this.byId.get(id));
	}

	/**
	 * The innermost item at a point.
	 * @param {number} x
	 * @param {number} y
	 * @returns {Item | null}
	 */
	itemAt(x, y) {
		const point = {x, y, width: 0, height: 0};
		let innermost = null;
		for (const item of this.items)
			if (meet(item, point))
				innermost = item; /* what is in a box stands behind it */
		return innermost;
	}

	/**
	 * What is no box and nearest to a point.
	 * @param {number} x
	 * @param {number} y
	 * @returns {Item | null}
	 */
	nearest(x, y) {
		return this.#best((item) => Math.hypot(middle(item).x - x, middle(item).y - y));
	}

	/**
	 * Along edges, or to what stands beside it.
	 * @param {Item} item
	 * @param {"up" | "down" | "left" | "right"} direction
	 * @returns {Item | null}
	 */
	neighbour(item, direction) {
		const here = middle(item);
		if (direction === "up" || direction === "down") {
			const others = direction === "up" ? item.into.map((edge) => edge.from) : item.out.map((edge) => edge.to);
			return others.filter((other) => other !== item).sort((a, b) =>
				Math.abs(middle(a).x - here.x) - Math.abs(middle(b).x - here.x) || a.y - b.y)[0] ?? null;
		}
		const sign = direction === "right" ? 1 : -1;
		return this.#best((other) => {
			const across = sign * (middle(other).x - here.x);
			return across > 0 ? across + 3 * Math.abs(middle(other).y - here.y) : Infinity;
		});
	}

	/**
	 * @param {(item: Item) => number} distance
	 * @returns {Item | null}
	 */
	#best(distance) {
		let best = null;
		let least = Infinity;
		for (const item of this.items) {
			const far = item.is_open ? Infinity : distance(item);
			if (far < least) {
				least = far;
				best = item;
			}
		}
		return best;
	}

	/**
	 * Where operations are to be seen: by themselves, or inside closed scopes. Those that are folded with others are
	 * hidden, too.
	 * @param {Found[]} found
	 */
	whereFound(found) {
		/** @type {Set<Item>} */
		const shown = new Set();
		/**
		 * How many are in each.
		 * @type {Map<Item, number>}
		 */
		const scopes = new Map();
		/** @type {Found[]} */
		const hidden = [];
		for (const each of found) {
			const item = this.byId.get(`n${each.node}`) ?? this.byId.get(`g${each.node}`);
			const scope = each.scopes.map((number) => this.byId.get(`s${number}`)).find((box) => box && !box.is_open);
			if (item) {
				shown.add(item);
			} else {
				hidden.push(each);
				if (scope)
					scopes.set(scope, (scopes.get(scope) ?? 0) + 1);
			}
		}
		return {shown: this.items.filter((item) => shown.has(item)), scopes, hidden,
			marked: new Set([...shown, ...scopes.keys()])};
	}
}
