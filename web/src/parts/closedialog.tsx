// The question before a close that ends something: which program, turn or unsent text, tab by
// tab; a yes closes exactly the tabs that are listed (spec tabs T5.3).
import { FolderX, LoaderCircle, PenLine, SquareTerminal } from "lucide";
import type { Fail } from "../api/types";
import { close, closeDialog } from "../state/actions";
import { tabs } from "../state/store";
import {
	type Closing,
	closeButton,
	closeTitle,
	confirmed,
	endings,
	goingWords,
	quietTabs,
} from "../words/closing";
import { sentences } from "../words/sentences";
import { Modal } from "./dialog";
import { Icon } from "./icon";

const icons = { program: SquareTerminal, turn: LoaderCircle, draft: PenLine };
const kinds = { program: "runs", turn: "is not done", draft: "is not sent" };

export function CloseDialog({ what, fail }: { what: Closing; fail: Fail }) {
	const list = endings(fail);
	const quiet = quietTabs(what, fail, tabs.value);
	return (
		<Modal
			title={closeTitle(what, fail)}
			foot={
				<>
					<span class="lead">It can be brought back for a while, but not what its end cuts off.</span>
					<button type="button" class="button plain" autofocus onClick={closeDialog}>
						Keep {list.length + quiet.length > 1 ? "them" : "it"}
					</button>
					<button type="button" class="button danger" onClick={() => void close(confirmed(what, fail))}>
						{closeButton(what, fail)}
					</button>
				</>
			}
		>
			{list.length > 0 ? (
				<>
					<p>This would end:</p>
					<ul class="endings">
						{list.map((one) => (
							<li key={one.tab}>
								{one.title && <span class="endings-tab cut">{one.title}</span>}
								<ul>
									{one.endings.map((ending) => (
										<li key={ending.what}>
											<Icon of={icons[ending.kind]} size={14} />
											{ending.kind === "program" ? <code>{ending.what}</code> : <span>{ending.what}</span>}
											<small>{kinds[ending.kind]}</small>
										</li>
									))}
								</ul>
							</li>
						))}
					</ul>
				</>
			) : (
				<p>{fail.message}</p>
			)}
			{goingWords(fail).map((text) => (
				<p key={text} class="going">
					<Icon of={FolderX} size={14} />
					<span>{sentences(text)}</span>
				</p>
			))}
			{quiet.length > 0 && (
				<p class="help">
					Closed with {list.length === 1 ? "it" : "them"}: {quiet.join(", ")}.
				</p>
			)}
		</Modal>
	);
}
