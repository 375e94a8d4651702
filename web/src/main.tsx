// The page's start: theme, login, stream, first paint.
import { effect } from "@preact/signals";
import { render } from "preact";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/rail.css";
import "./styles/panes.css";
import "./styles/over.css";
import "./styles/forms.css";
import { listen } from "./keys/keys";
import { App } from "./parts/app";
import { carded } from "./parts/rowcard";
import { askLaunch, loadHost, logIn } from "./state/actions";
import { followAgents } from "./state/agents";
import { chooseConfig, loadConfigs } from "./state/configs";
import { loadKey, tokenOf } from "./state/key";
import { tellSight } from "./state/sight";
import { configs, fontSize, login, model, openForm, tabs, theme } from "./state/store";
import { connection } from "./state/stream";
import { lookAgain, preload, prune } from "./terminal/pool";

declare const __GALLERY__: boolean;

function dress(): void {
	effect(() => {
		const root = document.documentElement;
		const more = matchMedia("(prefers-contrast: more)").matches;
		const chosen = theme.value === "system" ? (more ? "contrast" : "") : theme.value;
		if (chosen) root.dataset.theme = chosen;
		else delete root.dataset.theme;
		fontSize.value;
		lookAgain();
	});
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", lookAgain);
}

/** A form that was open when the page went away comes back with its words. */
async function reopenForm(): Promise<void> {
	if (openForm.value === "launch") return askLaunch();
	if (openForm.value === "") return;
	await loadConfigs();
	const config = configs.value?.configs?.find((c) => c.path === openForm.value);
	if (config) await chooseConfig(config);
	else openForm.value = "";
}

/** Trades the token of a login link, when the address has one. */
async function takeToken(): Promise<boolean> {
	const token = tokenOf(location.hash);
	if (!token) return false;
	// Out of the address bar and the history before anything else.
	history.replaceState(null, "", location.pathname);
	login.value = (await logIn(token)) ? "in" : "out";
	return true;
}

async function start(): Promise<void> {
	dress();
	const root = document.getElementById("app");
	if (!root) return;
	if (__GALLERY__ && location.pathname === "/dev/gallery") {
		const chat = new URLSearchParams(location.search).get("chat");
		if (chat) {
			const { ChatGallery } = await import("./dev/chatgallery");
			render(<ChatGallery name={chat} />, root);
			return;
		}
		const { Gallery } = await import("./dev/gallery");
		render(<Gallery />, root);
		return;
	}
	if (!(await takeToken()) && !loadKey()) login.value = "out";
	// A link that is pasted into this very window changes the fragment only.
	window.addEventListener("hashchange", () => void takeToken());
	render(<App />, root);
	listen();
	tellSight(() => carded.value?.key ?? "");
	followAgents();
	effect(() => {
		if (login.value === "out") return connection.close();
		connection.connect();
		void loadHost().catch(() => undefined); // the stream tells what is wrong
	});
	effect(() => {
		model.value;
		prune();
		if (tabs.value.length > 0) void preload();
	});
	const wake = () => {
		if (login.peek() === "in" && document.visibilityState === "visible") connection.connect();
	};
	window.addEventListener("online", wake);
	document.addEventListener("visibilitychange", wake);
	if (login.value === "in") await reopenForm();
}

void start();
