# davit's prompt for bash. Nothing here runs a program, asks git or waits: values come
# from a file that the davit host keeps. Text reaches PS1 as a variable's value, which bash
# does not expand again: a branch named $(…) or \u is drawn as it is called.
# Names of commands are quoted, so that no alias takes their place.
if [[ $- == *i* ]]; then
__davitp_names=() __davitp_states=() __davitp_texts=() __davitp_shown=() __davitp_out= __davitp_key= __davitp_status=0 __davitp_cwd= __davitp_place=

# A shell in a shell: the name of this one. Known where the system tells of processes.
__davitp_subshell=
if [[ -r /proc/$PPID/comm ]]; then
	IFS= \builtin read -r __davitp_out <"/proc/$PPID/comm" || :
	case $__davitp_out in bash|zsh|fish|sh|dash|ksh|pwsh) __davitp_subshell=bash ;; esac
fi

# __davitp_clean TEXT: into __davitp_out, without what steers a terminal or turns text.
__davitp_clean() {
	\local LC_ALL=C text="$1"
	if [[ $text == *[[:cntrl:]]* ]]; then
		text=${text//[[:cntrl:]]/?}
	fi
	if [[ $text == *[$'\xc2\xd8\xe2\xef']* ]]; then
		text=${text//$'\xc2'[$'\x80'-$'\x9f']/?}
		text=${text//$'\xd8\x9c'/?}
		text=${text//$'\xe2\x80'[$'\x8b'-$'\x8f']/?}
		text=${text//$'\xe2\x80'[$'\xa8'-$'\xae']/?}
		text=${text//$'\xe2\x81'[$'\xa0'-$'\xaf']/?}
		text=${text//$'\xef\xbb\xbf'/?}
	fi
	__davitp_out=$text
}

# What the host has told last of this directory, and a note to it that a prompt was drawn.
__davitp_load() {
	__davitp_names=() __davitp_states=() __davitp_texts=() __davitp_layout=$__davitp_default
	\local mark= pid= list= line= rest= at="${PWD%/}" key="${PWD:-/}"
	[[ -r $__davitp_board/host ]] || return 0
	{ IFS=' ' \builtin read -r mark pid && IFS= \builtin read -r list; } 2>/dev/null <"$__davitp_board/host" || return 0
	[[ $mark == davit-prompt-1 && -n $pid && $pid != *[!0-9]* ]] || return 0
	\builtin kill -0 "$pid" 2>/dev/null || return 0
	__davitp_layout=" $list "
	while :; do
		if [[ -e $at/.git ]]; then
			key=${at:-/}
			break
		fi
		[[ -n $at ]] || break
		at=${at%/*}
	done
	[[ $key == /* && $PWD != *$'\n'* ]] || return 0
	__davitp_key=$key
	[[ ${PATH-} == *$'\n'* || ! -d $__davitp_board/ask ]] ||
		\builtin printf 'davit-ask-1 bash\n%s\n%s\n%s\n%s\nend\n' "$key" "$PWD" "${PATH-}" "$__davitp_right" 2>/dev/null >|"$__davitp_board/ask/$$" || :
	[[ -r $__davitp_board/values$key/=davit ]] || return 0
	{
		IFS= \builtin read -r mark || :
		[[ $mark == davit-values-1 ]] && while IFS= \builtin read -r line; do
			rest=${line#* }
			__davitp_names+=("${line%% *}")
			__davitp_states+=("${rest%% *}")
			__davitp_texts+=("${rest#* }")
		done
	} 2>/dev/null <"$__davitp_board/values$key/=davit"
	return 0
}

# The directory, with the home as ~ and as much of its end as has room.
__davitp_directory() {
	\local room="$((${COLUMNS:-80} / 2))" dir="$PWD"
	if [[ "$PWD $room ${HOME-}" != "$__davitp_place" ]]; then
		if [[ -n ${HOME-} && ( $dir == "${HOME%/}" || $dir == "${HOME%/}"/* ) && ${HOME%/} != '' ]]; then
			dir='~'${dir#"${HOME%/}"}
		fi
		__davitp_clean "$dir"
		dir=$__davitp_out
		((room > 20)) || room=20
		if ((${#dir} > room)); then
			while ((${#dir} > room - 2)) && [[ ${dir#?} == */* ]]; do
				dir=${dir#?}
				dir=${dir#*/}
				[[ $dir == */* ]] && dir=/$dir
			done
			dir=…/${dir#/}
		fi
		__davitp_cwd=$dir __davitp_place="$PWD $room ${HOME-}"
	fi
	__davitp_out=$__davitp_cwd
}

# __davitp_value KIND: into __davitp_out; nothing when it has no value here.
__davitp_value() {
	\local i LC_TIME=C
	__davitp_out= __davitp_stale=
	case $1 in
	cwd) __davitp_directory ;;
	user) __davitp_clean "${USER:-${LOGNAME-}}" ;;
	host) __davitp_clean "${HOSTNAME%%.*}" ;;
	ssh) [[ -z ${SSH_CONNECTION-} ]] || __davitp_clean "${USER:-${LOGNAME-}}@${HOSTNAME-}" ;;
	subshell) __davitp_out=$__davitp_subshell ;;
	venv) [[ -z ${VIRTUAL_ENV-} ]] || { i=${VIRTUAL_ENV%/}; __davitp_clean "${i##*/}"; } ;;
	conda) __davitp_clean "${CONDA_DEFAULT_ENV-}" ;;
	date) ((BASH_VERSINFO[0] < 5)) || \builtin printf -v __davitp_out '%(%a %b %d %Y)T' -1 ;;
	time24) ((BASH_VERSINFO[0] < 5)) || \builtin printf -v __davitp_out '%(%H:%M)T' -1 ;;
	time12) ((BASH_VERSINFO[0] < 5)) || { \builtin printf -v __davitp_out '%(%I:%M %p)T' -1; __davitp_out=${__davitp_out/AM/am}; __davitp_out=${__davitp_out/PM/pm}; } ;;
	*)
		for ((i = 0; i < ${#__davitp_names[@]}; i++)); do
			if [[ ${__davitp_names[i]} == "$1" ]]; then
				__davitp_out=${__davitp_texts[i]}
				[[ ${__davitp_states[i]} != stale ]] || __davitp_stale=1
			fi
		done ;;
	esac
}

# The first of PROMPT_COMMAND: how the command ended.
__davitp_first() {
	__davitp_status=$?
	[[ $- == *e* ]] && return 0
	return "$__davitp_status"
}

# The last: the prompt.
__davitp_draw() {
	\local kind colour text prompt= n=0 kinds
	__davitp_load
	__davitp_shown=()
	IFS=' ' \builtin read -r -a kinds <<<"$__davitp_layout" || :
	\local plain=
	[[ -z ${NO_COLOR-} && ${TERM-} != dumb ]] || plain=1
	for kind in ${kinds[@]+"${kinds[@]}"}; do
		[[ $__davitp_right != *" $kind "* ]] || continue
		__davitp_piece "$kind"
	done
	IFS=' ' \builtin read -r -a kinds <<<"$__davitp_right" || :
	for kind in ${kinds[@]+"${kinds[@]}"}; do
		__davitp_piece "$kind"
	done
	[[ -z $__davitp_newline ]] || prompt+='\n'
	colour=32
	((__davitp_status == 0)) || colour=31
	if [[ -n $plain ]]; then
		PS1=$prompt'\$ '
	else
		PS1=$prompt'\[\e['$colour'm\]\$\[\e[0m\] '
	fi
	[[ $- == *e* ]] && return 0
	return "$__davitp_status"
}

# One chip, behind what is in prompt.
__davitp_piece() {
	__davitp_value "$1"
	[[ -n $__davitp_out ]] || return 0
	if \builtin shopt -q promptvars; then
		__davitp_shown[n]=$__davitp_out
		text='${__davitp_shown['$n']}'
		n=$((n + 1))
	else
		text=${__davitp_out//\\/\\\\}
	fi
	colour=0
	if [[ $__davitp_colours == *" $1="* ]]; then
		colour=${__davitp_colours#*" $1="}
		colour=${colour%% *}
	fi
	[[ -z $__davitp_stale ]] || colour="2;$colour"
	if [[ -n $plain ]]; then
		prompt+="$text "
	else
		prompt+='\[\e['$colour'm\]'$text'\[\e[0m\] '
	fi
}

if [[ "$(\builtin declare -p PROMPT_COMMAND 2>/dev/null)" == 'declare -a'* ]] && ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 501)); then
	[[ " ${PROMPT_COMMAND[*]-} " == *__davitp_draw* ]] || PROMPT_COMMAND=(__davitp_first ${PROMPT_COMMAND[@]+"${PROMPT_COMMAND[@]}"} __davitp_draw)
elif [[ ${PROMPT_COMMAND-} != *__davitp_draw* ]]; then
	PROMPT_COMMAND=$'__davitp_first\n'${PROMPT_COMMAND:+$PROMPT_COMMAND$'\n'}'__davitp_draw'
fi
fi
