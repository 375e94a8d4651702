/**
 * Provisional: made by hand after the Go types in the shape that openapi-typescript
 * gives, until the description exists. `npm run generate` replaces this file.
 */
export interface paths {
	"/v1/host.info": {
		post: operations["host.info"];
	};
	"/v1/host.state": {
		post: operations["host.state"];
	};
	"/v1/agent.list": {
		post: operations["agent.list"];
	};
	"/v1/agent.launch": {
		post: operations["agent.launch"];
	};
	"/v1/config.list": {
		post: operations["config.list"];
	};
	"/v1/config.open": {
		post: operations["config.open"];
	};
	"/v1/tab.open": {
		post: operations["tab.open"];
	};
	"/v1/tab.list": {
		post: operations["tab.list"];
	};
	"/v1/tab.close": {
		post: operations["tab.close"];
	};
	"/v1/tab.undoClose": {
		post: operations["tab.undoClose"];
	};
	"/v1/tab.rename": {
		post: operations["tab.rename"];
	};
	"/v1/tab.recolor": {
		post: operations["tab.recolor"];
	};
	"/v1/tab.move": {
		post: operations["tab.move"];
	};
	"/v1/tab.focus": {
		post: operations["tab.focus"];
	};
	"/v1/pane.split": {
		post: operations["pane.split"];
	};
	"/v1/pane.close": {
		post: operations["pane.close"];
	};
	"/v1/pane.sizes": {
		post: operations["pane.sizes"];
	};
	"/v1/pane.read": {
		post: operations["pane.read"];
	};
	"/v1/worktree.list": {
		post: operations["worktree.list"];
	};
	"/v1/workspace.list": {
		post: operations["workspace.list"];
	};
	"/v1/notice.list": {
		post: operations["notice.list"];
	};
	"/v1/notice.dismiss": {
		post: operations["notice.dismiss"];
	};
	"/v1/notice.act": {
		post: operations["notice.act"];
	};
	"/v1/chips.get": {
		post: operations["chips.get"];
	};
	"/v1/login": {
		post: operations["login"];
	};
}
export interface components {
	schemas: {
		AgentList: {
			agents: components["schemas"]["Agent"][] | null;
		};
		Agent: {
			id: string;
			name: string;
			installed: boolean;
			path?: string;
			version?: string;
			missing?: string;
			installHint?: string;
			practice?: boolean;
			surfaces: string[] | null;
		};
		Block: {
			command: string;
			directory: string;
			start: string;
			end?: string;
			exit?: number;
			firstRow: number;
			lastRow: number;
			from: number;
			to: number;
		};
		Chip: {
			kind: string;
			value: string;
			text: string;
			status: string;
			reason?: string;
			data?: components["schemas"]["ChipData"];
		};
		ChipData: {
			files: number;
			added: number;
			removed: number;
			untracked: number;
			branch?: string;
			detached?: boolean;
			unborn?: boolean;
		};
		Chips: {
			chips: components["schemas"]["Chip"][] | null;
			validation: string;
		};
		ChipsRequest: {
			pane?: string;
			dir?: string;
			path?: string;
		};
		ClosedTab: {
			id: string;
			title: string;
			until: string;
			cleanup?: string;
		};
		Config: {
			name: string;
			path: string;
			description?: string;
			icon?: string;
			color?: string;
			worktree: boolean;
			onClose: boolean;
			params: components["schemas"]["Param"][] | null;
			warnings?: components["schemas"]["Fault"][] | null;
		};
		ConfigList: {
			configs: components["schemas"]["Config"][] | null;
			faults: components["schemas"]["Fault"][] | null;
			dirs: string[] | null;
		};
		Error: {
			code: string;
			message: string;
			hint?: string;
			details?: { [key: string]: unknown };
		};
		Event: {
			seq: number;
			hostId: string;
			kind: string;
			at: string;
			tab?: components["schemas"]["Tab"];
			tabId?: string;
			order?: string[] | null;
			pane?: components["schemas"]["Pane"];
			paneId?: string;
			notice?: components["schemas"]["Notice"];
			noticeId?: string;
			chips?: components["schemas"]["Chip"][] | null;
			closed?: components["schemas"]["ClosedTab"][] | null;
			launched?: components["schemas"]["Launched"];
		};
		Exit: {
			code: number;
			signal?: string;
			at: string;
		};
		Fault: {
			file: string;
			line: number;
			column: number;
			severity: string;
			code: string;
			message: string;
			hint?: string;
			text?: string;
		};
		HostInfo: {
			version: string;
			hostId: string;
			pid: number;
			keeperPid: number;
			socket: string;
			url: string;
			home: string;
			panes: number;
			tabs: number;
			started: string;
			directory: string;
			capabilities: string[] | null;
		};
		InRequest: {
			in?: string;
			dir?: string;
		};
		Intent: {
			agent: string;
			operationId?: string;
			host?: string;
			target: components["schemas"]["Target"];
			prompt?: components["schemas"]["Prompt"];
			sessionOptions?: { [key: string]: string };
			reuseTerminal?: components["schemas"]["ReuseTerminal"];
			agentArgs?: string | null;
			cwd?: string;
			launchSource?: string;
			paneKey?: string;
			sessionId?: string;
			accountEnv?: { [key: string]: string };
			nativeChatDefault?: boolean;
			surface?: string;
			placement?: components["schemas"]["Placement"];
			presentation?: string;
		};
		Launched: {
			agent: string;
			mode: string;
			launchSource?: string;
		};
		LoggedIn: {
			key: string;
		};
		Login: {
			token: string;
		};
		None: Record<string, never>;
		Notice: {
			id: string;
			kind: string;
			level: string;
			title: string;
			body?: string;
			persistent: boolean;
			until?: string;
			tab?: string;
			actions?: components["schemas"]["NoticeAction"][] | null;
			details?: { [key: string]: unknown };
			created: string;
		};
		NoticeAct: {
			id: string;
			action: string;
		};
		NoticeAction: {
			id: string;
			label: string;
			kind: string;
			text?: string;
		};
		NoticeList: {
			notices: components["schemas"]["Notice"][] | null;
		};
		NoticeRef: {
			id: string;
		};
		OnClose: {
			directory: string;
			commands: string[] | null;
			shell: string;
			shellKind: string;
			timeout: number;
			removeWorktree?: components["schemas"]["Worktree"];
			ran?: boolean;
		};
		OpenRequest: {
			config: string;
			params?: { [key: string]: string };
			dir?: string;
			print?: boolean;
			createDirectories?: boolean;
			background?: boolean;
		};
		Opened: {
			tabId?: string;
			panes?: string[] | null;
			worktree?: components["schemas"]["Worktree"];
			launches: components["schemas"]["Result"][] | null;
			plan?: unknown;
			warnings?: components["schemas"]["Fault"][] | null;
		};
		Outcome: {
			kind: string;
			sessionId?: string;
			handle: string;
			tabId?: string;
			paneKey?: string;
		};
		Pane: {
			id: string;
			tab: string;
			kind: string;
			agent?: string;
			practice?: boolean;
			argv?: string[] | null;
			directory: string;
			title?: string;
			command?: string;
			running: boolean;
			status: string;
			exit?: components["schemas"]["Exit"];
			fault?: string;
			pid?: number;
			cols: number;
			rows: number;
			offset: number;
			note?: string;
			shell?: string;
			onExit?: string;
			paneKey?: string;
		};
		PaneClose: {
			pane: string;
			yes?: boolean;
		};
		PaneRead: {
			pane: string;
			scrollback?: number;
		};
		PaneRef: {
			pane: string;
		};
		PaneSizes: {
			tab: string;
			path: number[] | null;
			sizes: number[] | null;
		};
		PaneSplit: {
			pane: string;
			direction: string;
			argv?: string[] | null;
		};
		PaneText: {
			rows: string[] | null;
			cursor: number[] | null;
			title: string;
			offset: number;
			cols: number;
			blocks?: components["schemas"]["Block"][] | null;
		};
		Param: {
			name: string;
			type: string;
			description?: string;
			default?: string;
			options?: string[] | null;
		};
		Placement: {
			groupId?: string;
			afterTabId?: string;
		};
		PlacementResult: {
			groupId: string;
			fallback?: string;
		};
		Problem: {
			type: string;
			title: string;
			status: number;
			detail: string;
			code: string;
			message: string;
			hint?: string;
			details?: { [key: string]: unknown };
		};
		Prompt: {
			text: string;
			delivery: string;
		};
		PromptReceipt: {
			delivery: string;
			outcome: string;
			messageId?: string;
			draftPlaced?: boolean;
		};
		Receipt: {
			mode: string;
			preferred: string;
			reason: string;
			detail: string;
		};
		Result: {
			outcome: components["schemas"]["Outcome"];
			worktreeId: string;
			warning?: string;
			receipt: components["schemas"]["Receipt"];
			prompt?: components["schemas"]["PromptReceipt"];
			placement?: components["schemas"]["PlacementResult"];
			worktree?: components["schemas"]["WorktreeRef"];
		};
		ReuseTerminal: {
			handle: string;
		};
		Split: {
			pane?: string;
			direction?: string;
			children?: components["schemas"]["Split"][] | null;
			sizes?: number[] | null;
		};
		State: {
			hostId: string;
			seq: number;
			tabs: components["schemas"]["Tab"][] | null;
			panes: { [key: string]: components["schemas"]["Pane"] };
			notices: components["schemas"]["Notice"][] | null;
			chips: { [key: string]: components["schemas"]["Chip"][] | null };
			closed: components["schemas"]["ClosedTab"][] | null;
		};
		Tab: {
			id: string;
			title: string;
			given?: string;
			color?: string;
			icon?: string;
			group?: string;
			tree: components["schemas"]["Split"] | null;
			focused?: string;
			worktree?: components["schemas"]["Worktree"];
			onClose?: components["schemas"]["OnClose"];
			config?: string;
			launches?: components["schemas"]["Result"][] | null;
			fault?: string;
			created: string;
		};
		TabClose: {
			tabs: string[] | null;
			yes?: boolean;
		};
		TabClosed: {
			closed: string[] | null;
			undo: string;
		};
		TabEdit: {
			tab: string;
			title?: string;
			color?: string;
			after?: string;
		};
		TabFocus: {
			tab: string;
			pane: string;
		};
		TabList: {
			tabs: components["schemas"]["TabSummary"][] | null;
		};
		TabOpen: {
			directory?: string;
			argv?: string[] | null;
			title?: string;
			background?: boolean;
			cols?: number;
			rows?: number;
		};
		TabRef: {
			tab?: string;
		};
		TabSummary: {
			id: string;
			title: string;
			color?: string;
			panes: string[] | null;
			worktree?: components["schemas"]["Worktree"];
			onClose?: components["schemas"]["OnClose"];
			config?: string;
		};
		Target: {
			kind: string;
			worktree?: string;
			create?: unknown;
		};
		Workspace: {
			id: string;
			path: string;
			name: string;
			branch?: string;
			git: boolean;
		};
		WorkspaceList: {
			workspaces: components["schemas"]["Workspace"][] | null;
		};
		Worktree: {
			id: string;
			path: string;
			branch: string;
			repo: string;
			base?: string;
			removeOnClose?: boolean;
			warning?: string;
		};
		WorktreeInfo: {
			path: string;
			branch: string;
			head: string;
			dirty: boolean;
			untracked: number;
			unpushed: number;
			stashes: number;
			ownerTab?: string;
			main?: boolean;
			made?: boolean;
		};
		WorktreeList: {
			worktrees: components["schemas"]["WorktreeInfo"][] | null;
		};
		WorktreeRef: {
			path: string;
			branch?: string;
		};
	};
}
export interface operations {
	"host.info": {
		requestBody: { content: { "application/json": components["schemas"]["None"] } };
		responses: { 200: { content: { "application/json": components["schemas"]["HostInfo"] } } };
	};
	"host.state": {
		requestBody: { content: { "application/json": components["schemas"]["None"] } };
		responses: { 200: { content: { "application/json": components["schemas"]["State"] } } };
	};
	"agent.list": {
		requestBody: { content: { "application/json": components["schemas"]["None"] } };
		responses: { 200: { content: { "application/json": components["schemas"]["AgentList"] } } };
	};
	"agent.launch": {
		requestBody: { content: { "application/json": components["schemas"]["Intent"] } };
		responses: { 200: { content: { "application/json": components["schemas"]["Result"] } } };
	};
	"config.list": {
		requestBody: { content: { "application/json": components["schemas"]["None"] } };
		responses: { 200: { content: { "application/json": components["schemas"]["ConfigList"] } } };
	};
	"config.open": {
		requestBody: { content: { "application/json": components["schemas"]["OpenRequest"] } };
		responses: { 200: { content: { "application/json": components["schemas"]["Opened"] } } };
	};
	"tab.open": {
		requestBody: { content: { "application/json": components["schemas"]["TabOpen"] } };
		responses: { 200: { content: { "application/json": components["schemas"]["Opened"] } } };
	};
	"tab.list": {
		requestBody: { content: { "application/json": components["schemas"]["None"] } };
		responses: { 200: { content: { "application/json": components["schemas"]["TabList"] } } };
	};
	"tab.close": {
		requestBody: { content: { "application/json": components["schemas"]["TabClose"] } };
		responses: { 200: { content: { "application/json": components["schemas"]["TabClosed"] } } };
	};
	"tab.undoClose": {
		requestBody: { content: { "application/json": components["schemas"]["TabRef"] } };
		responses: { 200: { content: { "application/json": components["schemas"]["TabRef"] } } };
	};
	"tab.rename": {
		requestBody: { content: { "application/json": components["schemas"]["TabEdit"] } };
		responses: { 200: { content: { "application/json": components["schemas"]["None"] } } };
	};
	"tab.recolor": {
		requestBody: { content: { "application/json": components["schemas"]["TabEdit"] } };
		responses: { 200: { content: { "application/json": components["schemas"]["None"] } } };
	};
	"tab.move": {
		requestBody: { content: { "application/json": components["schemas"]["TabEdit"] } };
		responses: { 200: { content: { "application/json": components["schemas"]["None"] } } };
	};
	"tab.focus": {
		requestBody: { content: { "application/json": components["schemas"]["TabFocus"] } };
		responses: { 200: { content: { "application/json": components["schemas"]["None"] } } };
	};
	"pane.split": {
		requestBody: { content: { "application/json": components["schemas"]["PaneSplit"] } };
		responses: { 200: { content: { "application/json": components["schemas"]["PaneRef"] } } };
	};
	"pane.close": {
		requestBody: { content: { "application/json": components["schemas"]["PaneClose"] } };
		responses: { 200: { content: { "application/json": components["schemas"]["None"] } } };
	};
	"pane.sizes": {
		requestBody: { content: { "application/json": components["schemas"]["PaneSizes"] } };
		responses: { 200: { content: { "application/json": components["schemas"]["None"] } } };
	};
	"pane.read": {
		requestBody: { content: { "application/json": components["schemas"]["PaneRead"] } };
		responses: { 200: { content: { "application/json": components["schemas"]["PaneText"] } } };
	};
	"worktree.list": {
		requestBody: { content: { "application/json": components["schemas"]["InRequest"] } };
		responses: { 200: { content: { "application/json": components["schemas"]["WorktreeList"] } } };
	};
	"workspace.list": {
		requestBody: { content: { "application/json": components["schemas"]["InRequest"] } };
		responses: { 200: { content: { "application/json": components["schemas"]["WorkspaceList"] } } };
	};
	"notice.list": {
		requestBody: { content: { "application/json": components["schemas"]["None"] } };
		responses: { 200: { content: { "application/json": components["schemas"]["NoticeList"] } } };
	};
	"notice.dismiss": {
		requestBody: { content: { "application/json": components["schemas"]["NoticeRef"] } };
		responses: { 200: { content: { "application/json": components["schemas"]["None"] } } };
	};
	"notice.act": {
		requestBody: { content: { "application/json": components["schemas"]["NoticeAct"] } };
		responses: { 200: { content: { "application/json": components["schemas"]["None"] } } };
	};
	"chips.get": {
		requestBody: { content: { "application/json": components["schemas"]["ChipsRequest"] } };
		responses: { 200: { content: { "application/json": components["schemas"]["Chips"] } } };
	};
	"login": {
		requestBody: { content: { "application/json": components["schemas"]["Login"] } };
		responses: { 200: { content: { "application/json": components["schemas"]["LoggedIn"] } } };
	};
}
