// Where a tooltip goes beside what it tells about. Pure.

export interface Box {
	left: number;
	top: number;
	right: number;
	bottom: number;
}

const gap = 6;
const rim = 8;

/**
 * The first place that is in the window and covers nothing that must stay free: below, above,
 * right, left, and at last above all that must. When none is, the one below or above.
 */
export function placeTip(
	at: Box,
	tip: { width: number; height: number },
	room: { width: number; height: number },
	free: readonly Box[],
): { left: number; top: number } {
	const { width, height } = tip;
	const within = (value: number, end: number) => Math.min(Math.max(rim, value), Math.max(rim, end));
	const middle = within((at.left + at.right - width) / 2, room.width - width - rim);
	const side = within(at.bottom - height, room.height - height - gap);
	const places = [
		{ left: middle, top: at.bottom + gap },
		{ left: middle, top: at.top - gap - height },
		{ left: at.right + gap, top: side },
		{ left: at.left - gap - width, top: side },
		{ left: middle, top: Math.min(...free.map((box) => box.top)) - gap - height },
	];
	const fits = ({ left, top }: { left: number; top: number }) =>
		top >= 4 && left >= 4 && top + height <= room.height - 4 && left + width <= room.width - 4;
	const clear = ({ left, top }: { left: number; top: number }) =>
		free.every(
			(box) => box.right <= left || box.left >= left + width || box.bottom <= top || box.top >= top + height,
		);
	const [below, above] = places as [{ left: number; top: number }, { left: number; top: number }];
	return places.find((place) => fits(place) && clear(place)) ?? (fits(below) ? below : above);
}
