// Highlighted code as elements.
import type { Piece } from "../chat/markdown";

export function Pieces({ of }: { of: readonly Piece[] }) {
	return (
		<>
			{of.map((piece) =>
				typeof piece === "string" ? (
					piece
				) : (
					<span class={piece.class}>
						<Pieces of={piece.of} />
					</span>
				),
			)}
		</>
	);
}
