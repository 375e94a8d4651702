// The chats on screen, for the page's keys. It is apart from their code, which is loaded
// with the first chat.

export interface ChatHandle {
	focus(): void;
	cancel(): void;
	toEnd(): void;
	/** To the permission question, when there is one. */
	toQuestion(): void;
}

export const handles = new Map<string, ChatHandle>();
