// Where the entries of a long list lie, from the heights that were measured and guesses
// for the others. It is brought up to date from the first entry that has changed, so that
// an answer that grows at the end costs nothing of what is above it.

export interface Placed {
	readonly id: string;
}

export class Places<T extends Placed> {
	items: readonly T[] = [];
	/** tops[i] is the top of entry i; one more is the whole height. */
	private tops = new Float64Array(64);
	private readonly heights = new Map<string, number>();
	private dirty = 0;

	constructor(private readonly guess: (item: T) => number) {}

	put(items: readonly T[]): void {
		if (items === this.items) return;
		const room = Math.min(items.length, this.items.length);
		let same = 0;
		while (same < room && items[same]?.id === this.items[same]?.id) same++;
		this.dirty = Math.min(this.dirty, same);
		this.items = items;
	}

	/** Takes a measured height; true when it was another before. */
	measured(index: number, id: string, height: number): boolean {
		if (this.items[index]?.id !== id) return false;
		if (this.heights.get(id) === height) return false;
		this.heights.set(id, height);
		this.dirty = Math.min(this.dirty, index);
		return true;
	}

	/** Forgets what was measured: the width has changed. */
	forget(): void {
		this.heights.clear();
		this.dirty = 0;
	}

	private settle(): void {
		const n = this.items.length;
		if (this.tops.length < n + 1) {
			const more = new Float64Array(Math.max(n + 1, this.tops.length * 2));
			more.set(this.tops);
			this.tops = more;
		}
		for (let at = this.dirty; at < n; at++) {
			const item = this.items[at];
			if (!item) continue;
			this.tops[at + 1] = (this.tops[at] ?? 0) + (this.heights.get(item.id) ?? this.guess(item));
		}
		this.dirty = n;
	}

	top(index: number): number {
		this.settle();
		return this.tops[Math.min(index, this.items.length)] ?? 0;
	}

	get height(): number {
		return this.top(this.items.length);
	}

	/** The entry at a height; the last one below the end. */
	at(y: number): number {
		this.settle();
		let low = 0;
		let high = this.items.length - 1;
		while (low < high) {
			const middle = (low + high + 1) >> 1;
			if ((this.tops[middle] ?? 0) <= y) low = middle;
			else high = middle - 1;
		}
		return low;
	}

	/** Where an entry is now, when it was near `hint` before; -1: it is gone. */
	find(id: string, hint: number): number {
		if (this.items[hint]?.id === id) return hint;
		return this.items.findIndex((item) => item.id === id);
	}
}
