package tabconfig

// Code names a kind of fault, for programs. Codes do not change.
type Code string

// Faults of a file.
const (
	CodeTooLarge     Code = "file_too_large"
	CodeEncoding     Code = "file_not_utf8"
	CodeSyntax       Code = "toml_syntax"
	CodeUnknownKey   Code = "unknown_key"
	CodeType         Code = "wrong_type"
	CodeMissingKey   Code = "missing_key"
	CodeValue        Code = "invalid_value"
	CodeColor        Code = "invalid_color"
	CodeDuration     Code = "invalid_duration"
	CodeEnvName      Code = "invalid_env_name"
	CodeParamType    Code = "param_type"
	CodeParamDefault Code = "param_default"
	CodeParamOptions Code = "param_options"
	CodeSecretUse    Code = "secret_outside_env"
	CodeQuoting      Code = "placeholder_unquotable"
	CodeShellQuoting Code = "shell_quoting_unknown"

	CodeNoPanes      Code = "no_panes"
	CodeDuplicateID  Code = "duplicate_pane_id"
	CodeChildren     Code = "too_few_children"
	CodeUnknownChild Code = "unknown_child"
	CodeCycle        Code = "pane_cycle"
	CodeLeafType     Code = "leaf_without_type"
	CodeSizes        Code = "invalid_sizes"
)

// Warnings about a file.
const (
	CodeUnknownName   Code = "unknown_placeholder"
	CodeUnreached     Code = "pane_unreached"
	CodeChildTwice    Code = "child_used_twice"
	CodeFocusTwice    Code = "several_focused"
	CodeParamUnused   Code = "param_unused"
	CodeParamBuiltin  Code = "param_like_builtin"
	CodeManyPanes     Code = "many_panes"
	CodeShellMissing  Code = "shell_not_installed"
	CodeAgentUnknown  Code = "agent_unknown"
	CodeCloud         Code = "cloud_not_yet"
	CodeWithoutEffect Code = "key_without_effect"
	CodeMore          Code = "more_faults" // an error if an error is among them
)

// Faults of an opening: the values do not fit the file.
const (
	CodeValueMissing  Code = "param_missing"
	CodeParamUnknown  Code = "param_unknown"
	CodeValueInvalid  Code = "param_invalid"
	CodeNoRepository  Code = "no_repository"
	CodeCommandLength Code = "command_too_long"
	CodeRender        Code = "cannot_render"
)
