# davit's shell integration for zsh. What it tells the terminal, and how, is in
# docs/shell-integration.md. Nothing here starts a process.

# It is read before the user's files, and does its work at the first prompt, after them.
# A start-up file that assigns precmd_functions anew would lose the hook; sched, which
# runs just before a prompt, then does it.
__davit_begin() {
	builtin emulate -L zsh -o no_warn_create_global -o no_aliases
	builtin typeset -gi __davit_begun
	(( __davit_begun )) && return
	__davit_begun=1
	builtin typeset -gi __davit_ran=0 __davit_history=0
	builtin typeset -g __davit_directory= __davit_url= __davit_path= __davit_venv= __davit_conda= __davit_node= __davit_kube= __davit_ssh= __davit_aliases=
	builtin typeset -g __davit_key= __davit_line= __davit_kept=
	builtin typeset -gi __davit_point=0
	zle -N __davit_take && zle -N __davit_give
	builtin typeset -ga precmd_functions preexec_functions
	precmd_functions=(${precmd_functions:#__davit_begin} __davit_precmd)
	preexec_functions+=(__davit_preexec)
	__davit_precmd 0
}

# __davit_escape TEXT: into REPLY, percent-encoded where a byte could end or confuse the
# mark: controls, "%", ";" and everything that is not ASCII.
__davit_escape() {
	builtin emulate -L zsh -o extended_glob -o no_multibyte
	builtin local MATCH MBEGIN MEND
	builtin typeset -g REPLY="${1//(#m)[^a-zA-Z0-9 _.,:\/@=+~!\'\"()\[\]\{\}<>|&\$*?^\`\\#-]/%${(l:2::0:)$(( [##16] #MATCH ))}}"
}

# __davit_property KEY VALUE
__davit_property() {
	builtin emulate -L zsh -o extended_glob -o no_multibyte
	builtin local MATCH MBEGIN MEND
	builtin print -rn -- $'\e]633;P;'"$1=${2//(#m)[[:cntrl:];\\]/\\x${(l:2::0:)$(( [##16] #MATCH ))}}"$'\a'
}

__davit_preexec() {
	builtin emulate -L zsh -o no_warn_create_global -o no_aliases
	builtin local REPLY
	__davit_ran=1
	# $1 is the line as typed; it is empty when the line is kept out of the history.
	__davit_escape "${${1:-$3}[1,8192]}"
	builtin print -rn -- $'\e]133;C;cmdline_url='"$REPLY"$'\a'
}

__davit_precmd() {
	builtin local -i exit_status=$?
	builtin emulate -L zsh -o no_warn_create_global -o no_aliases -o extended_glob
	(( $# )) && exit_status=$1
	builtin local REPLY node far
	if (( __davit_ran )); then
		__davit_ran=0
		builtin print -rn -- $'\e]133;D;'"$exit_status"$'\a'
	elif (( exit_status == 1 && __davit_history && HISTCMD != __davit_history )); then
		# A line that zsh cannot parse runs nothing, so there was no preexec; it is in the
		# history all the same, which an empty line is not.
		builtin print -rn -- $'\e]133;D;1\a'
	fi
	__davit_history=$HISTCMD
	if [[ "$PWD" != "$__davit_directory" || -z "$__davit_url" ]]; then
		__davit_directory="$PWD"
		__davit_escape "$PWD"
		REPLY="${${REPLY// /%20}//\?/%3F}"
		__davit_url="file://$HOST${REPLY//\#/%23}"
	fi
	builtin print -rn -- $'\e]7;'"$__davit_url"$'\a'
	if [[ "${PATH-}" != "$__davit_path" ]]; then
		__davit_path="${PATH-}"
		__davit_property PATH "$__davit_path"
	fi
	if [[ "${VIRTUAL_ENV-}" != "$__davit_venv" ]]; then
		__davit_venv="${VIRTUAL_ENV-}"
		__davit_property VIRTUAL_ENV "$__davit_venv"
	fi
	if [[ "${CONDA_DEFAULT_ENV-}" != "$__davit_conda" ]]; then
		__davit_conda="${CONDA_DEFAULT_ENV-}"
		__davit_property CONDA_DEFAULT_ENV "$__davit_conda"
	fi
	if [[ "${KUBECONFIG-}" != "$__davit_kube" ]]; then
		__davit_kube="${KUBECONFIG-}"
		__davit_property KUBECONFIG "$__davit_kube"
	fi
	far=
	[[ -z "${SSH_CONNECTION-}" ]] || far="${USER:-${LOGNAME-}}@$HOST"
	if [[ "$far" != "$__davit_ssh" ]]; then
		__davit_ssh="$far"
		__davit_property SSH "$far"
	fi
	__davit_tell_aliases
	# The version managers name the version in a directory; asking node costs 40 ms.
	node="${NVM_BIN:-${path[(r)*node*/versions/*/bin]-}}"
	if [[ "$node" == (#b)*/(v#<->(.<->)#)(/installation|)/bin(/|) ]]; then
		node="$match[1]"
	else
		node=
	fi
	if [[ "$node" != "$__davit_node" ]]; then
		__davit_node="$node"
		__davit_property NODE_VERSION "$node"
	fi
	# Hooks that came later may set the prompt: be the last again from the next time on.
	if [[ "${precmd_functions[-1]-}" != __davit_precmd ]]; then
		precmd_functions=("${(@)precmd_functions:#__davit_precmd}" __davit_precmd)
	fi
	__davit_keys
	__davit_mark
}

# The table of aliases, a line each, when it is another one: at most 256 of them, none
# longer than 256 characters.
__davit_tell_aliases() {
	builtin emulate -L zsh -o no_warn_create_global -o no_aliases
	builtin zmodload -F zsh/parameter +p:aliases 2>/dev/null || return 0
	[[ "${(pj:\0:)${(@kv)aliases}}" == "$__davit_aliases" ]] && return 0
	builtin local name table= line=$'\n'
	builtin local -i count=0
	__davit_aliases="${(pj:\0:)${(@kv)aliases}}"
	for name in "${(@k)aliases}"; do
		(( ${#name} + ${#aliases[$name]} <= 256 )) || continue
		table+="${table:+$line}$name=${aliases[$name]//$line/;}"
		(( ++count < 256 )) || break
	done
	__davit_property ALIASES "$table"
}

# davit's keys, which no keyboard has: "take" puts the user's line aside and runs a command
# of davit's, "give" puts the line back. They are bound before each prompt: a plugin may
# have made the keymaps anew.
__davit_keys() {
	builtin emulate -L zsh -o no_warn_create_global -o no_aliases
	builtin local map key=
	if [[ -n "$__davit_run" && -o zle ]]; then
		for map in main emacs viins vicmd; do
			bindkey -M $map $'\e[5791~' __davit_take && bindkey -M $map $'\e[5793~' __davit_give
		done 2>/dev/null
		key=zsh
	fi
	if [[ "$key" != "$__davit_key" ]]; then
		__davit_key="$key"
		__davit_property RUN_KEY "$key"
	fi
	if [[ "${__davit_line:+1}" != "$__davit_kept" ]]; then
		__davit_kept="${__davit_line:+1}"
		__davit_property KEPT "$__davit_kept"
	fi
}

# The command lies in a file, behind the id of its request. Who makes the file of that id
# first decides: this shell that it runs, or davit that it never will.
__davit_take() {
	builtin emulate -L zsh -o no_warn_create_global -o no_aliases -o no_clobber
	builtin local id= line= answer
	builtin local -a words
	builtin local -i at
	if [[ -r "$__davit_run" ]]; then
		{ IFS= builtin read -r id && IFS= builtin read -r line } <"$__davit_run"
	fi
	if [[ -z "$line" ]]; then
		answer=nothing
	elif [[ "$CONTEXT" != start ]]; then
		answer=continuation
	elif [[ -n "$__davit_line" ]]; then
		answer=kept
	elif [[ ! -e "$__davit_run.$id" ]] && { builtin true >"$__davit_run.$id" } 2>/dev/null; then
		answer=taken
	else
		answer=late
	fi
	if [[ "$answer" == taken ]]; then
		__davit_line="$BUFFER"
		__davit_point=$CURSOR
		[[ -z "$__davit_line" ]] || answer=kept_and_taken
		if builtin zmodload -F zsh/parameter +p:galiases 2>/dev/null && (( $#galiases )); then
			# A global alias would take the place of an argument.
			words=("${(z)line}")
			for (( at = 2; at <= $#words; at++ )); do
				[[ -z "${galiases[(e)${words[at]}]-}" ]] || words[at]="\\${words[at]}"
			done
			line="${(j: :)words}"
		fi
		BUFFER="$line"
		CURSOR=$#BUFFER
		POSTDISPLAY=
		zle .accept-line
	fi
	__davit_property RUN "$id $answer"
}

__davit_give() {
	builtin emulate -L zsh -o no_warn_create_global -o no_aliases
	[[ -n "$__davit_line" ]] || return 0
	builtin local -i at=$(( __davit_point + CURSOR ))
	BUFFER="${__davit_line[1,__davit_point]}$BUFFER${__davit_line[__davit_point+1,-1]}"
	CURSOR=$at
	__davit_line=
	__davit_keys
}

# Put the marks around whatever the prompt is by now. Options are looked at as the user
# has them, so this does not emulate.
__davit_mark() {
	builtin local before=$'%{\e]133;A\a%}' after=$'%{\e]133;B\a%}'
	if [[ "${PS1-}" != *$'\e]133;A\a'* ]]; then
		PS1="$before${PS1-}$after"
	fi
}

# Where davit puts a command for this shell.
builtin typeset -g __davit_run=
[[ -z "${DAVIT_PANE-}" || "$DAVIT_PANE" == *[^a-zA-Z0-9_]* ]] || __davit_run="${${(%):-%x}:A:h:h}/run/$DAVIT_PANE"
builtin typeset -ga precmd_functions
precmd_functions+=(__davit_begin)
if builtin zmodload zsh/sched 2>/dev/null; then
	sched +0 __davit_begin
fi
