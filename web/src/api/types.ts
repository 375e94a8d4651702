// The names that the page uses for the schemas of the API. Nothing is redefined here:
// what a field is called and holds is said by the generated file.
import type { components } from "./schema.gen";

type Schemas = components["schemas"];

export type Agent = Schemas["Agent"];
export type AgentList = Schemas["AgentList"];
export type Branch = Schemas["Branch"];
export type BranchList = Schemas["BranchList"];
export type BranchMenu = Schemas["BranchMenu"];
export type Bank = Schemas["ChipBank"];
export type BankItem = Schemas["ChipBankItem"];
export type BranchName = Schemas["BranchName"];
export type Change = Schemas["Change"];
export type Changes = Schemas["Changes"];
export type Chip = Schemas["Chip"];
export type ChipData = Schemas["ChipData"];
export type ChipLayout = Schemas["ChipLayout"];
export type ChipLayoutSet = Schemas["ChipLayoutSet"];
export type ClosedTab = Schemas["ClosedTab"];
export type Config = Schemas["Config"];
export type ConfigFile = Schemas["ConfigFile"];
export type ConfigList = Schemas["ConfigList"];
export type Diff = Schemas["Diff"];
export type DirectoryListing = Schemas["DirectoryListing"];
export type Exit = Schemas["Exit"];
export type Fault = Schemas["Fault"];
export type Group = Schemas["Group"];
export type HostInfo = Schemas["HostInfo"];
export type Intent = Schemas["Intent"];
export type MenuBranch = Schemas["MenuBranch"];
export type NodeVersion = Schemas["NodeVersion"];
export type NodeVersions = Schemas["NodeVersions"];
export type Notice = Schemas["Notice"];
export type NoticeAction = Schemas["NoticeAction"];
export type Pane = Schemas["Pane"];
export type Param = Schemas["Param"];
export type PullRequest = Schemas["PullRequest"];
export type Result = Schemas["Result"];
export type Setup = Schemas["Setup"];
export type Split = Schemas["Split"];
export type State = Schemas["State"];
export type Tab = Schemas["Tab"];
export type TabClose = Schemas["TabClose"];
export type Workspace = Schemas["Workspace"];
export type WorktreeInfo = Schemas["WorktreeInfo"];
export type WorktreeOpen = Schemas["WorktreeOpen"];

export type Event = Schemas["Event"];
export type AgentOption = Schemas["AgentOption"];
export type Approval = Schemas["Approval"];
export type Blob = Schemas["Blob"];
export type FileDiff = Schemas["FileDiff"];
export type JournalBody = Schemas["JournalBody"];
export type JournalRow = Schemas["JournalRow"];
export type LoggedIn = Schemas["LoggedIn"];
export type PlanStep = Schemas["PlanStep"];
export type Session = Schemas["Session"];
export type Submission = Schemas["Submission"];
export type ToolCall = Schemas["ToolCall"];
export type TurnState = Schemas["TurnState"];
export type TabView = Schemas["TabView"];
export type ServerFrame = Schemas["ServerFrame"];

/** An error as a problem document and as an error frame carry it. */
export interface Fail {
	code: string;
	message: string;
	hint?: string;
	details?: { [key: string]: unknown };
}
