// The icon of a chip or footer item. A chip of the user's own has the one that its config
// names: of a bounded set, because each icon is code of the page, or a sign such as an emoji.
import {
	Activity,
	Battery,
	Bell,
	Box,
	Bug,
	Calendar,
	CircleCheck,
	CircleQuestionMark,
	Clock,
	Cloud,
	Code,
	Coffee,
	Container,
	CornerDownLeft,
	Cpu,
	Database,
	Diff as DiffIcon,
	FileDiff,
	Flag,
	Flame,
	FlaskConical,
	Folder,
	FolderTree,
	Gauge,
	GitBranch,
	GitCompareArrows,
	GitPullRequest,
	Globe,
	HardDrive,
	Hash,
	Heart,
	Hexagon,
	House,
	type IconNode,
	Key,
	Layers2,
	Leaf,
	ListChecks,
	Lock,
	Mail,
	MapPin,
	MemoryStick,
	MessageSquare,
	Mic,
	Monitor,
	Moon,
	Music,
	Network,
	Package,
	Paperclip,
	Rocket,
	Server,
	Settings2,
	ShipWheel,
	Sparkles,
	Split,
	Star,
	Sun,
	Tag,
	Terminal,
	TextCursorInput,
	Thermometer,
	Timer,
	TrendingUp,
	TriangleAlert,
	UserRound,
	Users,
	Wifi,
	Zap,
} from "lucide";
import { isNamed } from "../words/chipnames";
import { Icon } from "./icon";

const kinds: Record<string, IconNode> = {
	cwd: Folder,
	user: UserRound,
	host: Monitor,
	ssh: Server,
	subshell: Layers2,
	venv: Box,
	conda: FlaskConical,
	node: Hexagon,
	date: Calendar,
	time12: Clock,
	time24: Clock,
	git_branch: GitBranch,
	git_status: GitCompareArrows,
	git_diff: DiffIcon,
	github_pr: GitPullRequest,
	kube: ShipWheel,
	svn_branch: Split,
	svn_dirty: FileDiff,
	agent_plan: ListChecks,
	input_mode: CornerDownLeft,
	context_use: Gauge,
	model: Sparkles,
	attach: Paperclip,
	voice: Mic,
	files: FolderTree,
	rich_input: TextCursorInput,
	settings: Settings2,
};

/** What `icon` of a chip of the user's own may name (docs/guide/chips.md). */
const named: Record<string, IconNode> = {
	activity: Activity,
	alert: TriangleAlert,
	battery: Battery,
	bell: Bell,
	box: Box,
	bug: Bug,
	calendar: Calendar,
	check: CircleCheck,
	clock: Clock,
	cloud: Cloud,
	code: Code,
	coffee: Coffee,
	container: Container,
	cpu: Cpu,
	database: Database,
	disk: HardDrive,
	flag: Flag,
	flame: Flame,
	flask: FlaskConical,
	folder: Folder,
	gauge: Gauge,
	globe: Globe,
	hash: Hash,
	heart: Heart,
	house: House,
	key: Key,
	layers: Layers2,
	leaf: Leaf,
	lock: Lock,
	mail: Mail,
	memory: MemoryStick,
	message: MessageSquare,
	moon: Moon,
	music: Music,
	network: Network,
	package: Package,
	pin: MapPin,
	rocket: Rocket,
	server: Server,
	star: Star,
	sun: Sun,
	tag: Tag,
	terminal: Terminal,
	thermometer: Thermometer,
	timer: Timer,
	trend: TrendingUp,
	user: UserRound,
	users: Users,
	wifi: Wifi,
	zap: Zap,
};

export interface ChipIconProps {
	kind: string;
	/** Of a chip of the user's own. */
	icon?: string;
	/** Nobody knows this kind. */
	unknown?: boolean;
	size?: number;
}

export function ChipIcon({ kind, icon = "", unknown, size = 14 }: ChipIconProps) {
	if (isNamed(kind)) return <Icon of={kinds[kind] ?? Tag} size={size} />;
	if (unknown) return <Icon of={CircleQuestionMark} size={size} />;
	if (isSign(icon)) {
		return (
			<span class="chip-sign" aria-hidden="true">
				{icon}
			</span>
		);
	}
	return <Icon of={(Object.hasOwn(named, icon) && named[icon]) || Tag} size={size} />;
}

/** One sign that is no letter of a name: an emoji, an arrow. */
function isSign(icon: string): boolean {
	return /^\P{ASCII}/u.test(icon) && [...new Intl.Segmenter().segment(icon)].length === 1;
}
