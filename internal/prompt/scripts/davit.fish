# davit's prompt for fish. Nothing here asks git or waits; only the clock's chips cost a
# process (fish has no clock of its own). Values come from a file that the davit host
# keeps. When newer ones land it sends SIGWINCH, which no program minds, and fish repaints.
if status is-interactive

set -g __davitp_past 0
set -g __davitp_seen
set -g __davitp_from
set -g __davitp_tree
set -g __davitp_place
for pair in (string split -n ' ' -- $__davitp_colours)
    set -g __davitp_colour_(string replace '=' ' ' -- $pair | string split ' ')[1] (string replace -r '.*=' '' -- $pair)
end

# A shell in a shell: the name of this one. Known where the system tells of processes.
set -g __davitp_subshell ''
begin
    set -l parent
    if test -r /proc/$fish_pid/stat
        read -l stat </proc/$fish_pid/stat
        set parent (string match -rg '^.*\) \S+ (\d+) ' -- $stat)
    end
    if test -n "$parent"; and test -r /proc/$parent/comm
        read -l name </proc/$parent/comm
        contains -- "$name" bash zsh fish sh dash ksh pwsh; and set -g __davitp_subshell fish
    end
end

# Text without what steers a terminal or turns text, into __davitp_out.
function __davitp_clean
    set -g __davitp_out $argv[1]
    string match -qr '[^ -~]' -- "$argv[1]"; or return 0
    set -g __davitp_out (string replace -ra '[\x{1}-\x{1f}\x{7f}-\x{9f}\x{61c}\x{200b}-\x{200f}\x{2028}-\x{202e}\x{2060}-\x{206f}\x{feff}]' '?' -- "$argv[1]" | string collect)
end

# What the host has told last of this directory.
function __davitp_load
    set -g __davitp_layout (string split -n ' ' -- $__davitp_default)
    set -g __davitp_key ''
    set -g __davitp_values
    set -g __davitp_names
    test -r $__davitp_board/host; or return 0
    set -l head
    read -z head <$__davitp_board/host
    set head (string split \n -- $head)
    set -l pid (string match -rg '^davit-prompt-1 ([1-9][0-9]*)$' -- "$head[1]"); or return 0
    # Without /proc fish cannot know by itself whether the host lives.
    test -d /proc/self; and not test -d /proc/$pid; and return 0
    set -g __davitp_layout (string split -n ' ' -- $head[2])
    # The work tree is looked for anew after each cd, and when it goes or another comes.
    if test "$PWD" != "$__davitp_from"; or test -e "$PWD/.git"; or begin
            test "$__davitp_tree" != "$PWD"; and not test -e "$__davitp_tree/.git"
        end
        set -g __davitp_from $PWD
        set -g __davitp_tree $PWD
        set -l at (string replace -r '/$' '' -- $PWD)
        while true
            if test -e "$at/.git"
                set -g __davitp_tree $at
                test -n "$at"; or set -g __davitp_tree /
                break
            end
            test -n "$at"; or break
            set at (string replace -r '/[^/]*$' '' -- $at)
        end
    end
    set -l key $__davitp_tree
    string match -q '/*' -- $key; and not string match -q \*\n\* -- $PWD; or return 0
    set -g __davitp_key $key
    test -r $__davitp_board/values$key/=davit; or return 0
    set -l told
    read -z told <$__davitp_board/values$key/=davit
    set told (string split -n \n -- $told)
    test "$told[1]" = davit-values-1; or return 0
    set -g __davitp_values $told[2..-1]
    set -g __davitp_names (string replace -r ' .*' '' -- $__davitp_values)
    set -g __davitp_texts (string replace -r '^\S+ \S+ ' '' -- $__davitp_values)
end

# A note to the host that a prompt was drawn.
function __davitp_ask
    test -n "$__davitp_key"; and test -d $__davitp_board/ask; or return 0
    set -l search (string join : -- $PATH)
    string match -q \*\n\* -- $search; and return 0
    printf 'davit-ask-1 fish\n%s\n%s\n%s\n%s\nend\n' $__davitp_key $PWD $search "$__davitp_right" 2>/dev/null >$__davitp_board/ask/$fish_pid
end

# The directory, with the home as ~ and as much of its end as has room, into __davitp_out.
function __davitp_directory
    if test "$PWD $COLUMNS $HOME" = "$__davitp_place"
        set -g __davitp_out $__davitp_cwd
        return
    end
    set -l dir $PWD
    set -l near (string replace -r '/$' '' -- "$HOME")
    if test -n "$near"
        set -l size (string length -- $near)
        if test "$dir" = "$near"
            set dir '~'
        else if test (string sub -l (math $size + 1) -- $dir) = "$near/"
            set dir '~'(string sub -s (math $size + 1) -- $dir)
        end
    end
    __davitp_clean $dir
    set dir $__davitp_out
    set -l room 40
    set -q COLUMNS; and set room (math -s0 $COLUMNS / 2)
    test $room -gt 20; or set room 20
    if test (string length -- $dir) -gt $room
        while test (string length -- $dir) -gt (math $room - 2); and string match -qr '^.[^/]*/.' -- $dir
            set dir (string replace -r '^.[^/]*/' '/' -- $dir)
        end
        set dir …(string replace -r '^/?' '/' -- $dir)
    end
    set -g __davitp_place "$PWD $COLUMNS $HOME"
    set -g __davitp_cwd $dir
    set -g __davitp_out $dir
end

# The text of a kind, into __davitp_out; nothing when it has no value here.
function __davitp_value
    set -g __davitp_out
    switch $argv[1]
        case cwd
            __davitp_directory
        case user
            __davitp_clean "$USER"
        case host
            __davitp_clean (string replace -r '\..*' '' -- $hostname)
        case ssh
            test -n "$SSH_CONNECTION"; and __davitp_clean "$USER@$hostname"
        case subshell
            set -g __davitp_out $__davitp_subshell
        case venv
            test -n "$VIRTUAL_ENV"; and __davitp_clean (string replace -r '^.*/(?=[^/])' '' -- (string replace -r '/$' '' -- $VIRTUAL_ENV))
        case conda
            test -n "$CONDA_DEFAULT_ENV"; and __davitp_clean "$CONDA_DEFAULT_ENV"
        case date
            set -g __davitp_out (LC_ALL=C command date '+%a %b %d %Y')
        case time24
            set -g __davitp_out (command date +%H:%M)
        case time12
            set -g __davitp_out (LC_ALL=C command date '+%I:%M %p' | string lower)
        case '*'
            contains -- $argv[1] $__davitp_names; or return 0
            set -g __davitp_out $__davitp_texts[(contains -i -- $argv[1] $__davitp_names)]
    end
end

# A side of the prompt, into __davitp_line.
function __davitp_side
    set -g __davitp_line ''
    for kind in $argv
        __davitp_value $kind
        test -n "$__davitp_out"; or continue
        if test -z "$NO_COLOR"; and test "$TERM" != dumb
            set -l colour 0
            set -l name __davitp_colour_$kind
            string match -q 'custom:*' -- $kind; or not set -q $name; or set colour $$name
            string match -q "$kind stale *" -- $__davitp_values; and set colour "2;$colour"
            set __davitp_line $__davitp_line\e"["$colour"m"$__davitp_out\e"[0m "
        else
            set __davitp_line $__davitp_line$__davitp_out' '
        end
    end
end

function fish_prompt --description 'the prompt of davit'
    set -l last $status
    set -l sign '>'
    test "$EUID" = 0; and set sign '#'
    if test -z "$NO_COLOR"; and test "$TERM" != dumb
        set -l colour 32
        test $last = 0; or set colour 31
        set sign \e"["$colour"m"$sign\e"[0m"
    end
    if test $__davitp_past = 1
        printf '\e[J%s ' $sign # fish leaves what stood below a prompt that shrinks
        return
    end
    __davitp_load
    __davitp_ask
    set -g __davitp_seen $__davitp_layout $__davitp_values
    set -l left $__davitp_layout
    if test "$__davitp_right" != ' '
        set left
        for kind in $__davitp_layout
            string match -q "* $kind *" -- $__davitp_right; or set -a left $kind
        end
    end
    __davitp_side $left
    printf %s $__davitp_line
    test -n "$__davitp_newline"; and printf '\n'
    printf '%s ' $sign
end

if test "$__davitp_right" != ' '; or test -n "$__davitp_transient"
    function fish_right_prompt --description 'the right prompt of davit'
        test $__davitp_past = 1; and return
        __davitp_side (string split -n ' ' -- $__davitp_right)
        string trim -rc ' ' -- $__davitp_line
    end
end

# Newer values have landed, or the window has another size, where fish repaints anyway.
function __davitp_landed --on-signal WINCH
    test $__davitp_past = 1; and return
    __davitp_load
    set -l now $__davitp_layout $__davitp_values
    test "$now" = "$__davitp_seen"; and return
    commandline -f repaint
end

# A new line has its prompt whole again.
function __davitp_again --on-event fish_preexec --on-event fish_postexec --on-event fish_cancel --on-event fish_posterror
    set -g __davitp_past 0
end

if test -n "$__davitp_transient"
    function __davitp_enter
        if not commandline --paging-mode; and begin
                commandline --is-valid
                or test -z (commandline | string collect)
            end
            set -g __davitp_past 1
            commandline -f repaint
        end
        commandline -f execute
    end
    for mode in default insert
        bind -M $mode \r __davitp_enter 2>/dev/null
        bind -M $mode \n __davitp_enter 2>/dev/null
    end
end

end
