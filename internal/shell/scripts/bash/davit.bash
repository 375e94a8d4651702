# davit's shell integration for bash, read in place of ~/.bashrc (bash --init-file).
# What it tells the terminal, and how, is in docs/shell-integration.md.
#
# Nothing here runs a program: a prompt costs a few string comparisons, a command one
# fork of the shell (to read the history from PS0). bash before 4.4 has no PS0 and tells
# of prompts and exit statuses only.

# First the user's own files, as bash would read them. They must see nothing of ours.
if [[ -n ${DAVIT_BASH_LOGIN-} ]]; then
	unset DAVIT_BASH_LOGIN
	[[ -r /etc/profile ]] && . /etc/profile
	if [[ -r ~/.bash_profile ]]; then . ~/.bash_profile
	elif [[ -r ~/.bash_login ]]; then . ~/.bash_login
	elif [[ -r ~/.profile ]]; then . ~/.profile
	fi
else
	[[ -r ~/.bashrc ]] && . ~/.bashrc
fi

# `return` in a start-up file ends that file only, so this is always reached, but for a
# file that ends the shell or replaces it. Once is enough.
if [[ $- == *i* && -z ${__davit_loaded-} ]]; then
__davit_loaded=1
__davit_ran= __davit_said= __davit_history= __davit_empty=
__davit_keys= __davit_key= __davit_more= __davit_armed= __davit_line= __davit_point=0 __davit_kept=
__davit_run=
[[ ${DAVIT_PANE-} == *[!a-zA-Z0-9_]* || -z ${DAVIT_PANE-} ]] || __davit_run=${BASH_SOURCE[0]%/bash/*}/run/$DAVIT_PANE
__davit_directory= __davit_url=
__davit_path= __davit_venv= __davit_conda= __davit_node= __davit_kube= __davit_ssh= __davit_aliases=$'\n'

# __davit_escape TEXT: into __davit_out, percent-encoded where a byte could end or
# confuse the mark: controls, "%", ";" and everything that is not ASCII. The second
# argument names what else is kept as it is.
__davit_escape() {
	local LC_ALL=C text=$1 safe part byte
	__davit_out=
	while [[ -n $text ]]; do
		part=${text%%[!a-zA-Z0-9 _.,:/@=+~!\'\"\(\)\[\]\{\}\<\>\|\&\$\*\?\^\`\\#-]*}
		__davit_out+=$part
		text=${text:${#part}}
		[[ -n $text ]] || break
		builtin printf -v byte %d "'${text:0:1}"
		builtin printf -v byte '%%%02X' $((byte & 255))
		__davit_out+=$byte
		text=${text:1}
	done
	return 0
}

# __davit_property KEY VALUE
__davit_property() {
	local LC_ALL=C text=$2 byte hex
	text=${text//\\/\\x5c}
	text=${text//;/\\x3b}
	if [[ $text == *[[:cntrl:]]* ]]; then
		local out=
		while [[ -n $text ]]; do
			byte=${text%%[[:cntrl:]]*}
			out+=$byte
			text=${text:${#byte}}
			[[ -n $text ]] || break
			builtin printf -v hex '\\x%02x' "'${text:0:1}"
			out+=$hex
			text=${text:1}
		done
		text=$out
	fi
	builtin printf '\e]633;P;%s=%s\a' "$1" "$text"
}

# The last history entry, as PS0 shows it: in a subshell of the expansion of PS0, where
# the line about to run is already in the history.
__davit_command() {
	set +eu
	local entry last now=$1 guess=
	entry=$(HISTTIMEFORMAT= builtin history 1)
	entry=${entry#"${entry%%[![:space:]]*}"}
	last=${entry%%[^0-9]*}
	entry=${entry#"$last"}
	entry=${entry:2} # "*" when it was edited, else a blank; then a blank
	if [[ -z $entry ]]; then
		builtin printf '\e]133;C\a'
		return
	fi
	if [[ $now == "$2" ]]; then
		# The line did not go into the history: it repeats the last entry, or the user
		# wants it left out.
		case :${HISTCONTROL-}: in
		*:ignoreboth:*) guess=';guess=1' ;;
		*:ignoredups:*|*:erasedups:*)
			[[ :$HISTCONTROL: != *:ignorespace:* && -z ${HISTIGNORE-} ]] || guess=';guess=1' ;;
		*) builtin printf '\e]133;C\a'; return ;;
		esac
	fi
	__davit_escape "${entry:0:8192}"
	builtin printf '\e]133;C;cmdline_url=%s%s\a' "$__davit_out" "$guess"
}

# The first of PROMPT_COMMAND: tell how the command ended, before anything of the user's
# prompt runs, and leave $? as it was.
__davit_precmd() {
	local status=$?
	if [[ -z $__davit_said ]]; then
		__davit_said=1
		__davit_finish "$status"
	fi
	[[ $- == *e* ]] && return 0
	return "$status"
}

__davit_finish() {
	if [[ -n $__davit_ran ]]; then
		builtin printf '\e]133;D;%s\a' "$1"
		__davit_ran=
	elif [[ $1 == 2 && -n $__davit_history ]]; then
		# A line that bash cannot parse runs nothing, so PS0 is not shown; it is in the
		# history all the same, which an empty line is not.
		local now='\!'
		now=${now@P}
		[[ $now != 1 || -n $(builtin history 1) ]] || now=0 # 1 is said of an empty history too
		[[ $now == "$__davit_history" ]] || builtin printf '\e]133;D;2\a'
	fi
	if [[ $PWD != "$__davit_directory" || -z $__davit_url ]]; then
		__davit_directory=$PWD
		__davit_escape "$PWD"
		__davit_out=${__davit_out// /%20}
		__davit_out=${__davit_out//\?/%3F}
		__davit_url=file://${HOSTNAME-}${__davit_out//#/%23}
	fi
	builtin printf '\e]7;%s\a' "$__davit_url"
	if [[ ${PATH-} != "$__davit_path" ]]; then
		__davit_path=${PATH-}
		__davit_property PATH "$__davit_path"
	fi
	if [[ ${VIRTUAL_ENV-} != "$__davit_venv" ]]; then
		__davit_venv=${VIRTUAL_ENV-}
		__davit_property VIRTUAL_ENV "$__davit_venv"
	fi
	if [[ ${CONDA_DEFAULT_ENV-} != "$__davit_conda" ]]; then
		__davit_conda=${CONDA_DEFAULT_ENV-}
		__davit_property CONDA_DEFAULT_ENV "$__davit_conda"
	fi
	if [[ ${KUBECONFIG-} != "$__davit_kube" ]]; then
		__davit_kube=${KUBECONFIG-}
		__davit_property KUBECONFIG "$__davit_kube"
	fi
	local far=
	[[ -z ${SSH_CONNECTION-} ]] || far=${USER:-${LOGNAME-}}@${HOSTNAME-}
	if [[ $far != "$__davit_ssh" ]]; then
		__davit_ssh=$far
		__davit_property SSH "$far"
	fi
	((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] < 404)) || __davit_tell_aliases # before that "set -u" refuses an empty table
	# The version managers name the version in a directory; asking node costs 40 ms.
	local node=${NVM_BIN-}
	if [[ -z $node && ${PATH-} == *node*/versions/*/bin* ]]; then
		node=${PATH%%/bin*}/bin
		local rest=$PATH
		while [[ -n $rest ]]; do
			node=${rest%%:*}
			[[ $node == *node*/versions/* ]] && break
			[[ $rest == *:* ]] || { node=; break; }
			rest=${rest#*:}
		done
	fi
	if [[ $node =~ /(v?[0-9]+(\.[0-9]+)*)(/installation)?/bin/?$ ]]; then
		node=${BASH_REMATCH[1]}
	else
		node=
	fi
	if [[ $node != "$__davit_node" ]]; then
		__davit_node=$node
		__davit_property NODE_VERSION "$node"
	fi
	return 0
}

# The table of aliases, a line each, when it is another one: at most 256 of them, none
# longer than 256 characters.
__davit_tell_aliases() {
	local names="${!BASH_ALIASES[*]}" texts="${BASH_ALIASES[*]}"
	[[ $names$'\n'$texts != "$__davit_aliases" ]] || return 0
	__davit_aliases=$names$'\n'$texts
	local LC_ALL=C name text table= count=0
	for name in "${!BASH_ALIASES[@]}"; do
		text=${BASH_ALIASES[$name]}
		text=${text//$'\n'/;}
		((${#name} + ${#text} <= 256)) || continue
		table+=${table:+$'\n'}$name=$text
		((++count < 256)) || break
	done
	__davit_property ALIASES "$table"
}

# davit's keys. No keyboard has them: "take" puts the user's line aside and a command of
# davit's in its place, "accept" runs it and is nothing at any other time, "give" puts the
# line back. They follow each other in one write, so nothing typed comes between.
__davit_bind() {
	local map
	for map in emacs vi-insert vi-command; do
		builtin bind -m $map -x '"\e[5791~": __davit_take'
		builtin bind -m $map '"\e[5792~": redraw-current-line'
		builtin bind -m $map -x '"\e[5793~": __davit_give'
	done 2>/dev/null
	__davit_keys=1
	return 0
}

__davit_accept() {
	local map
	for map in emacs vi-insert vi-command; do
		builtin bind -m $map "\"\\e[5792~\": $1"
	done
	return 0
}

# The command lies in a file, behind the id of its request. Who makes the file of that id
# first decides: this shell that it runs, or davit that it never will.
__davit_take() {
	local id= line= answer options=$-
	if [[ -r $__davit_run ]]; then
		{ IFS= builtin read -r id && IFS= builtin read -r line; } 2>/dev/null <"$__davit_run"
	fi
	if [[ -z $line ]]; then answer=nothing
	elif [[ -n $__davit_more ]]; then answer=continuation
	elif [[ -n $__davit_line ]]; then answer=kept
	else
		set -C
		if { builtin true >"$__davit_run.$id"; } 2>/dev/null; then answer=taken; else answer=late; fi
		[[ $options == *C* ]] || set +C
	fi
	if [[ $answer == taken ]]; then
		__davit_line=$READLINE_LINE __davit_point=$READLINE_POINT
		[[ -z $__davit_line ]] || answer=kept_and_taken
		READLINE_LINE=$line READLINE_POINT=${#line} __davit_armed=1
		__davit_accept accept-line
	fi
	__davit_property RUN "$id $answer"
	return 0
}

__davit_give() {
	[[ -n $__davit_line ]] || return 0
	READLINE_LINE=${__davit_line:0:__davit_point}$READLINE_LINE${__davit_line:__davit_point}
	READLINE_POINT=$((__davit_point + READLINE_POINT))
	__davit_line=
	__davit_tell_keys
	return 0
}

# Whether the keys can be pressed, and whether a line waits to be given back.
__davit_tell_keys() {
	local key=
	if [[ -n $__davit_run && -n $__davit_keys ]] && [[ -o emacs || -o vi ]] && builtin shopt -q promptvars; then key=bash; fi
	if [[ $key != "$__davit_key" ]]; then
		__davit_key=$key
		__davit_property RUN_KEY "$key"
	fi
	if [[ ${__davit_line:+1} != "$__davit_kept" ]]; then
		__davit_kept=${__davit_line:+1}
		__davit_property KEPT "$__davit_kept"
	fi
	return 0
}

# The last of PROMPT_COMMAND: whatever made PS1 has made it now; put the marks around it.
__davit_prompt() {
	local status=$?
	if [[ -z $__davit_said ]]; then
		__davit_finish "$status"
	fi
	__davit_said=
	if [[ ${PS1-} != *'\e]133;A\a'* ]]; then
		PS1='\[\e]133;A\a\]'${PS1-}'\[\e]133;B\a\]'
	fi
	[[ -n $__davit_keys ]] || __davit_bind
	if [[ -n $__davit_armed ]]; then
		__davit_armed=
		__davit_accept redraw-current-line
	fi
	__davit_more=
	[[ ${PS2-} == *__davit_more* ]] || PS2='${__davit_empty:$((__davit_more=1, 0)):0}'${PS2-}
	__davit_tell_keys
	if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 404)); then
		if [[ ${PS0-} != *__davit_command* ]]; then
			# The arithmetic makes a note in this shell; the substitution is the fork.
			PS0=${PS0-}'${__davit_empty:$((__davit_ran=1, 0)):0}$(__davit_command \! "$__davit_history")'
		fi
		__davit_history='\!'
		__davit_history=${__davit_history@P}
		[[ $__davit_history != 1 ]] || __davit_history=0 # 1 is said of an empty history too
	else
		__davit_ran=1
	fi
	[[ $- == *e* ]] && return 0
	return "$status"
}

if [[ "$(builtin declare -p PROMPT_COMMAND 2>/dev/null)" == 'declare -a'* ]]; then
	PROMPT_COMMAND=(__davit_precmd "${PROMPT_COMMAND[@]+"${PROMPT_COMMAND[@]}"}" __davit_prompt)
else
	PROMPT_COMMAND=$'__davit_precmd\n'${PROMPT_COMMAND:+$PROMPT_COMMAND$'\n'}'__davit_prompt'
fi
fi
