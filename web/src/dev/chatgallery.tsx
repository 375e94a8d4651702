// The gallery's chats: every state from fixtures, and a long one for the bench
// (`?chat=long&rows=20000`).
import { useMemo } from "preact/hooks";
import { composerOf } from "../chat/composer";
import { Feed } from "../chat/feed";
import { Chat } from "../parts/chat";
import { Tooltips } from "../parts/tooltip";
import { type Theme, theme } from "../state/store";
import { chatOf, longChat, type SampleChat, sampleChats } from "./chats";
import "./chatgallery.css";

export function ChatGallery({ name }: { name: string }) {
	const asked = new URLSearchParams(location.search);
	const wanted = asked.get("theme");
	if (wanted && theme.value !== wanted) theme.value = wanted as Theme;
	const chats = useMemo(
		() =>
			name === "long"
				? [
						chatOf("long", longChat("practice_long", Number(asked.get("rows") ?? 20_000)), {
							status: "working",
						}),
					]
				: sampleChats().filter((chat) => name === "all" || chat.session.title === name),
		[name],
	);
	return (
		<main class="gallery-chats" data-one={chats.length === 1}>
			{chats.map((chat) => (
				<One key={chat.session.id} chat={chat} />
			))}
			<Tooltips />
		</main>
	);
}

function One({ chat }: { chat: SampleChat }) {
	const feed = useMemo(() => {
		const made = new Feed(chat.session.id);
		const last = chat.writer.rows.at(-1);
		made.rows(chat.writer.rows, last ? { epoch: 1, seq: last.seq } : null, "");
		// The bench goes on writing.
		(window as unknown as { feeds: Record<string, unknown> }).feeds = {
			...(window as unknown as { feeds?: Record<string, unknown> }).feeds,
			[chat.session.title ?? ""]: { feed: made, writer: chat.writer },
		};
		return made;
	}, [chat]);
	return (
		<section class="gallery-chat" aria-label={chat.session.title}>
			<Chat
				pane={chat.pane}
				several={false}
				zoomed={false}
				session={chat.session}
				feed={feed}
				composer={composerOf(chat.session.id)}
			/>
		</section>
	);
}
