# davit's prompt for zsh. Nothing here runs a program, asks git or waits: values come
# from a file that the davit host keeps, and newer ones are drawn when the host knocks at
# a socket of this shell's. In text every % and ! is doubled where zsh looks for them.
[[ -o interactive ]] || builtin return 0
builtin typeset -g __davitp_layout=$__davitp_default __davitp_key= __davitp_out= __davitp_stale= __davitp_left= __davitp_far= __davitp_seen=
builtin typeset -gi __davitp_status=0
builtin typeset -g __davitp_fd="${__davitp_fd-}" __davitp_past=
builtin typeset -ga __davitp_names __davitp_states __davitp_texts

# A shell in a shell: the name of this one. Known where the system tells of processes.
builtin typeset -g __davitp_subshell=
if [[ -r /proc/$PPID/comm ]]; then
	IFS= builtin read -r __davitp_out </proc/$PPID/comm || :
	case $__davitp_out in (bash|zsh|fish|sh|dash|ksh|pwsh) __davitp_subshell=zsh ;; esac
fi

# __davitp_clean TEXT: into __davitp_out, without what steers a terminal or turns text.
__davitp_clean() {
	if [[ $1 != *[^\ -\~]* ]]; then # as most are
		__davitp_out=$1
		builtin return 0
	fi
	builtin emulate -L zsh -o no_multibyte -o no_aliases
	builtin local LC_ALL=C text=$1
	if [[ $text == *[$'\x01'-$'\x1f'$'\x7f\xc2\xd8\xe2\xef']* ]]; then
		text=${text//[$'\x01'-$'\x1f'$'\x7f']/?}
		text=${text//$'\xc2'[$'\x80'-$'\x9f']/?}
		text=${text//$'\xd8\x9c'/?}
		text=${text//$'\xe2\x80'[$'\x8b'-$'\x8f']/?}
		text=${text//$'\xe2\x80'[$'\xa8'-$'\xae']/?}
		text=${text//$'\xe2\x81'[$'\xa0'-$'\xaf']/?}
		text=${text//$'\xef\xbb\xbf'/?}
	fi
	__davitp_out=$text
}

# __davitp_lines FILE: its lines, into reply; read at once where the module is there.
__davitp_lines() {
	builtin local all= line=
	reply=()
	[[ -r $1 ]] || builtin return 1
	if (( $+mapfile )) || builtin zmodload zsh/mapfile 2>/dev/null; then
		all=${mapfile[$1]-}
		reply=("${(@f)${all%$'\n'}}")
	else
		{ while IFS= builtin read -r line; do reply+=("$line"); done } 2>/dev/null <$1
	fi
	[[ -n "${reply[1]-}" ]]
}

# What the host has told last of this directory.
__davitp_load() {
	builtin local mark= pid= list= line= rest= at=${PWD%/} key=${PWD:-/} seen=
	builtin local -a reply
	__davitp_names=() __davitp_states=() __davitp_texts=() __davitp_layout=$__davitp_default __davitp_key=
	__davitp_lines $__davitp_board/host || builtin return 0
	mark=${reply[1]%% *} pid=${reply[1]#* } list=${reply[2]-}
	[[ $mark == davit-prompt-1 && -n $pid && $pid != *[^0-9]* ]] || builtin return 0
	builtin kill -0 $pid 2>/dev/null || builtin return 0
	__davitp_layout=" $list "
	while :; do
		if [[ -e $at/.git ]]; then
			key=${at:-/}
			break
		fi
		[[ -n $at ]] || break
		at=${at%/*}
	done
	[[ $key == /* && $PWD != *$'\n'* ]] || builtin return 0
	__davitp_key=$key
	__davitp_lines $__davitp_board/values$key/=davit || builtin return 0
	[[ ${reply[1]} == davit-values-1 ]] || builtin return 0
	for line in "${(@)reply[2,-1]}"; do
		seen+=$line$'\n'
		rest=${line#* }
		__davitp_names+=("${line%% *}")
		__davitp_states+=("${rest%% *}")
		__davitp_texts+=("${rest#* }")
	done
	__davitp_seen=$list$'\n'$seen
}

# A note to the host that a prompt was drawn, and where it may knock.
__davitp_ask() {
	[[ -n $__davitp_key && $PATH != *$'\n'* && -d $__davitp_board/ask ]] || builtin return 0
	if [[ -z $__davitp_fd || ! -S $__davitp_board/w.$$ ]] && builtin zmodload zsh/net/socket 2>/dev/null; then
		builtin local REPLY=
		if [[ -n $__davitp_fd ]]; then
			builtin zle -F $__davitp_fd
			builtin exec {__davitp_fd}>&-
			__davitp_fd=
		fi
		if zsocket -l $__davitp_board/w.$$ 2>/dev/null; then
			__davitp_fd=$REPLY
			builtin zle -F $__davitp_fd __davitp_landed
		fi
	fi
	builtin printf 'davit-ask-1 zsh\n%s\n%s\n%s\n%s\nend\n' $__davitp_key "$PWD" "$PATH" $__davitp_right 2>/dev/null >|$__davitp_board/ask/$$ || :
}

# The directory, with the home as ~ and as much of its end as has room.
__davitp_directory() {
	builtin local dir=$PWD near=${HOME%/}
	builtin local -i room=$((${COLUMNS:-80} / 2))
	if [[ -n $near && ( $dir == $near || $dir == $near/* ) ]]; then
		dir="~${dir#$near}"
	fi
	__davitp_clean "$dir"
	dir=$__davitp_out
	(( room > 20 )) || room=20
	if (( $#dir > room )); then
		while (( $#dir > room - 2 )) && [[ ${dir#?} == */* ]]; do
			dir=${dir#?}
			dir=${dir#*/}
			[[ $dir == */* ]] && dir=/$dir
		done
		dir=…/${dir#/}
	fi
	__davitp_out=$dir
}

# __davitp_value KIND: into __davitp_out; nothing when it has no value here.
__davitp_value() {
	builtin local -i i
	__davitp_out= __davitp_stale=
	case $1 in
	(cwd) __davitp_directory ;;
	(user) __davitp_clean "${USER:-${LOGNAME-}}" ;;
	(host) __davitp_clean "${HOST%%.*}" ;;
	(ssh) [[ -z ${SSH_CONNECTION-} ]] || __davitp_clean "${USER:-${LOGNAME-}}@$HOST" ;;
	(subshell) __davitp_out=$__davitp_subshell ;;
	(venv) [[ -z ${VIRTUAL_ENV-} ]] || __davitp_clean "${${VIRTUAL_ENV%/}##*/}" ;;
	(conda) __davitp_clean "${CONDA_DEFAULT_ENV-}" ;;
	(date) builtin local LC_TIME=C; __davitp_out=${(%):-'%D{%a %b %d %Y}'} ;;
	(time24) __davitp_out=${(%):-'%D{%H:%M}'} ;;
	(time12) builtin local LC_TIME=C; __davitp_out=${(L)${(%):-'%D{%I:%M %p}'}} ;;
	(*)
		for (( i = 1; i <= $#__davitp_names; i++ )); do
			if [[ $__davitp_names[i] == $1 ]]; then
				__davitp_out=$__davitp_texts[i]
				[[ $__davitp_states[i] == stale ]] && __davitp_stale=1
			fi
		done ;;
	esac
	builtin return 0
}

# __davitp_pieces SIDE PERCENT BANG COLOUR KIND…: into __davitp_out.
__davitp_pieces() {
	builtin local side=$1 percent=$2 bang=$3 colours=$4 kind= text= colour= all=
	builtin shift 4
	for kind in "$@"; do
		[[ $side == left && $__davitp_right == *" $kind "* ]] && continue
		__davitp_value $kind
		text=$__davitp_out
		[[ -n $text ]] || continue
		[[ -n $percent ]] && text=${text//\%/%%}
		[[ -n $bang ]] && text=${text//\!/!!}
		if [[ -n $colours ]]; then
			colour=0
			if [[ $__davitp_colours == *" $kind="* ]]; then
				colour=${${__davitp_colours#*" $kind="}%% *}
			fi
			[[ -n $__davitp_stale ]] && colour="2;$colour"
			text="%{"$'\e'"[${colour}m%}$text%{"$'\e'"[0m%}"
		fi
		if [[ $side == left ]]; then
			all+="$text "
		else
			all+="${all:+ }$text"
		fi
	done
	__davitp_out=$all
}

# __davitp_build STEPS: put the prompt together. Options are looked at as the user has them, so this does not
# emulate.
__davitp_build() {
	builtin local __davitp_percent= __davitp_bang= __davitp_subst= __davitp_colour= __davitp_sign='%# '
	[[ -o prompt_percent ]] && __davitp_percent=1
	[[ -o prompt_bang ]] && __davitp_bang=1
	[[ -o prompt_subst ]] && __davitp_subst=1
	[[ -n "$__davitp_percent" && -z "${NO_COLOR-}" && "${TERM-}" != dumb ]] && __davitp_colour=1
	[[ -n "$__davitp_percent" ]] || __davitp_sign='$ '
	__davitp_work "${1-}" "$__davitp_percent" "$__davitp_bang" "$__davitp_colour" "$__davitp_sign"
	if [[ -n "$__davitp_subst" ]]; then
		PS1='${__davitp_left}'
		[[ "$__davitp_right" == ' ' ]] || RPS1='${__davitp_far}'
	else
		PS1="$__davitp_left"
		[[ "$__davitp_right" == ' ' ]] || RPS1="$__davitp_far"
	fi
	# In a davit pane the prompt carries marks.
	(( ! $+functions[__davit_mark] )) || __davit_mark
}

# __davitp_work STEPS PERCENT BANG COLOUR SIGN: all of it under zsh's own options, set once
# because that takes time; what it calls relies on it.
__davitp_work() {
	builtin emulate -L zsh -o no_aliases -o clobber
	[[ $1 != *load* ]] || __davitp_load
	[[ $1 != *ask* ]] || __davitp_ask
	builtin shift
	__davitp_assemble "$@"
}

__davitp_assemble() {
	builtin local sign=$4
	if [[ -n $3 ]]; then
		if (( __davitp_status )); then
			sign="%{"$'\e'"[31m%}${sign% }%{"$'\e'"[0m%} "
		else
			sign="%{"$'\e'"[32m%}${sign% }%{"$'\e'"[0m%} "
		fi
	fi
	if [[ -n $__davitp_past ]]; then
		__davitp_left=$sign __davitp_far=
		builtin return 0
	fi
	__davitp_pieces left "$1" "$2" "$3" ${=__davitp_layout}
	[[ -n $__davitp_newline ]] && __davitp_out+=$'\n'
	__davitp_left=$__davitp_out$sign
	__davitp_far=
	if [[ $__davitp_right != ' ' ]]; then
		__davitp_pieces right "$1" "$2" "$3" ${=__davitp_right}
		__davitp_far=$__davitp_out
	fi
}

__davitp_precmd() {
	__davitp_status=$?
	__davitp_past=
	if [[ -n "$__davitp_later" ]]; then
		__davitp_build load
	else
		__davitp_build load-ask
	fi
}

# The prompt is drawn: the host may work now.
__davitp_begun() {
	[[ "${CONTEXT-}" == start ]] || builtin return 0
	builtin emulate -L zsh -o no_aliases -o clobber
	__davitp_ask
}

# Newer values have landed: draw the prompt anew, with the line that is being typed.
__davitp_landed() {
	builtin local __davitp_before="$__davitp_seen"
	if [[ -n "${2-}" ]]; then # the socket has a fault
		builtin zle -F "$1"
		builtin return 0
	fi
	__davitp_accept "$1"
	[[ -z "$__davitp_past" ]] || builtin return 0
	__davitp_build load
	[[ "$__davitp_before" != "$__davitp_seen" ]] || builtin return 0
	builtin zle reset-prompt 2>/dev/null
	builtin return 0
}

__davitp_accept() {
	builtin emulate -L zsh -o no_aliases
	builtin local REPLY=
	builtin local -i fd
	zsocket -a -t $1 2>/dev/null || builtin return 0
	fd=$REPLY
	builtin exec {fd}>&-
}

# The line is done: its prompt shrinks to the sign.
__davitp_finish() {
	[[ "${CONTEXT-}" == start ]] || builtin return 0
	__davitp_past=1
	__davitp_build
	builtin zle reset-prompt
}

__davitp_exit() {
	[[ -n "$__davitp_fd" ]] || builtin return 0
	builtin zmodload -F zsh/files b:zf_rm 2>/dev/null && zf_rm -f -- "$__davitp_board/w.$$" 2>/dev/null
	builtin return 0
}

builtin typeset -ga precmd_functions zshexit_functions
(( ${precmd_functions[(Ie)__davitp_precmd]} )) || precmd_functions+=(__davitp_precmd)
(( ${zshexit_functions[(Ie)__davitp_exit]} )) || zshexit_functions+=(__davitp_exit)
builtin typeset -g __davitp_later=
if builtin autoload -Uz +X add-zle-hook-widget 2>/dev/null; then
	builtin zle -N __davitp_begun
	add-zle-hook-widget line-init __davitp_begun && __davitp_later=1
	if [[ -n $__davitp_transient ]]; then
		builtin zle -N __davitp_finish
		add-zle-hook-widget line-finish __davitp_finish
	fi
fi
