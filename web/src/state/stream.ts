// Joins the connection to the store: states and events go in, in order of their sequence.
import { Connection } from "../stream/connection";
import { client } from "./actions";
import { loadKey } from "./key";
import { apply, fromState } from "./model";
import { keepPlace, link, login, model } from "./store";

/** Names this page load; the ids of its input start with it. */
export const clientId = `w${Array.from(crypto.getRandomValues(new Uint8Array(8)), (b) => b.toString(16).padStart(2, "0")).join("")}`;

export const connection = new Connection({
	url: `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/v1/stream`,
	client: clientId,
	key: loadKey,
	after: () => model.value?.seq,
	onState: (state) => {
		model.value = fromState(state);
		keepPlace();
	},
	onEvent: (event) => {
		if (!model.value) return;
		model.value = apply(model.value, event);
		keepPlace();
	},
	onStatus: (status, retryAt) => {
		link.value = { status, retryAt };
		if (status === "refused") login.value = "out";
	},
	loginHolds: async () => {
		try {
			await client.call("host.info", {});
			return true;
		} catch {
			return login.value === "in";
		}
	},
});
