// The last size that a terminal of this window fitted: a good guess for the next.
export interface Size {
	cols: number;
	rows: number;
}

/** Never smaller than the host allows (spec terminal P3.4). */
export const smallest: Size = { cols: 20, rows: 5 };

let last: Size = { cols: 120, rows: 40 };

export function fitted(size: Size): void {
	last = size;
}

export function guessSize(): Size {
	return last;
}
