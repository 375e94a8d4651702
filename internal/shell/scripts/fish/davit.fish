# davit's shell integration for fish, read after the user's configuration
# (fish --init-command). What it tells the terminal, and how, is in
# docs/shell-integration.md. Nothing here starts a process.

status is-interactive; and not set -q __davit_loaded; or exit 0
set -g __davit_loaded 1
set -g __davit_ran 0

set -g __davit_line ''
set -g __davit_point 0
# Where davit puts a command for this shell.
set -g __davit_run ''
string match -qr '^[a-zA-Z0-9_]+$' -- "$DAVIT_PANE"; and set __davit_run (string replace -r '/fish/[^/]*$' '' -- (status filename))/run/$DAVIT_PANE

# fish 4 marks prompts and commands by itself; then only the rest is told.
set -g __davit_native 0
string match -qr '^([4-9]|[1-9][0-9]+)\.' -- "$version"; and set __davit_native 1

function __davit_property
    set -l text (string replace -a '\\' '\\x5c' -- "$argv[2]" | string replace -a ';' '\\x3b' | string replace -a \e '\\x1b' | string replace -a \a '\\x07' | string collect)
    set text (string replace -a \n '\\x0a' -- $text | string collect)
    printf '\e]633;P;%s=%s\a' $argv[1] "$text"
end

# Only a value that is not as it was told last is told.
function __davit_tell
    set -l seen __davit_told_$argv[1]
    if not set -q $seen; and test -z "$argv[2]"
        return
    end
    if not set -q $seen; or test "$$seen" != "$argv[2]"
        set -g $seen $argv[2]
        __davit_property $argv
    end
end

# The table of aliases, a line each, when there are other functions than before: at most
# 256 of them, none longer than 256 characters. fish makes a function of an alias, and
# says so in its description; abbreviations are in what is typed already.
function __davit_tell_aliases
    set -l names (functions -n | string split ,)
    test "$names" = "$__davit_functions"; and return
    set -g __davit_functions $names
    set -l table
    for name in $names
        set -l words (functions -Dv -- $name)[5..-1]
        set words (string match -r '^alias (\S+?)[ =](.*)$' -- "$words")
        test (count $words) = 3; or continue
        test (string length -- "$words[2]$words[3]") -le 256; or continue
        set -a table "$words[2]=$words[3]"
        test (count $table) -lt 256; or break
    end
    __davit_tell ALIASES (string join \n -- $table | string collect)
end

# davit's keys, which no keyboard has: "take" puts the user's line aside and runs a command
# of davit's, "give" puts the line back. The command lies in a file, behind the id of its
# request. Who makes the file of that id first decides: this shell that it runs, or davit
# that it never will.
function __davit_take
    set -l id ''
    set -l line ''
    set -l answer nothing
    if test -r "$__davit_run"
        begin
            read id
            read line
        end <$__davit_run
    end
    if test -n "$line"
        set answer late
        if test -n "$__davit_line"
            set answer kept
        else if not test -e $__davit_run.$id
            builtin true >?$__davit_run.$id; and set answer taken
        end
    end
    if test $answer = taken
        set __davit_line (commandline -b) # its lines
        set __davit_point (commandline -C)
        test -n "$__davit_line"; and set answer kept_and_taken
        # The blank keeps abbreviations from the last word.
        commandline -r -- "$line "
        commandline -f execute
        # As Enter does it: the next line is typed into.
        test "$fish_key_bindings" = fish_vi_key_bindings; and set -g fish_bind_mode insert
    end
    __davit_property RUN "$id $answer"
end

function __davit_give
    test -n "$__davit_line"; or return 0
    set -l at (math $__davit_point + (commandline -C))
    set -l typed (commandline -b)
    commandline -r -- $__davit_line
    commandline -C $__davit_point
    test -n "$typed"; and commandline -i -- $typed
    commandline -C $at
    set __davit_line ''
    __davit_tell KEPT ''
end

if test -n "$__davit_run"; and test $__davit_native = 0
    for mode in default insert visual replace replace_one
        bind -M $mode \e\[5791~ __davit_take
        bind -M $mode \e\[5793~ __davit_give
    end
end

function __davit_prompt_start --on-event fish_prompt --on-event fish_cancel --on-event fish_posterror
    set -l exit_status $status
    if test $__davit_ran = 1
        # A command that ended without telling, as after an error in its text.
        set __davit_ran 0
        test $__davit_native = 0; and printf '\e]133;D;%s\a' $exit_status
    end
    printf '\e]7;file://%s%s\a' "$hostname" (string escape --style=url -- $PWD)
    __davit_tell PATH (string join : -- $PATH)
    __davit_tell VIRTUAL_ENV "$VIRTUAL_ENV"
    __davit_tell CONDA_DEFAULT_ENV "$CONDA_DEFAULT_ENV"
    __davit_tell KUBECONFIG (string join : -- $KUBECONFIG)
    set -l far ''
    test -n "$SSH_CONNECTION"; and set far "$USER@$hostname"
    __davit_tell SSH "$far"
    __davit_tell_aliases
    test -n "$__davit_run"; and test $__davit_native = 0; and __davit_tell RUN_KEY fish
    set -l kept ''
    test -n "$__davit_line"; and set kept 1
    __davit_tell KEPT "$kept"
    # The version managers name the version in a directory; asking node costs 40 ms.
    set -l node "$NVM_BIN"
    test -n "$node"; or set node (string match -r -- '.*node.*/versions/.*/bin$' $PATH)[1]
    __davit_tell NODE_VERSION (string match -rg -- '/(v?[0-9]+(?:\.[0-9]+)*)(?:/installation)?/bin/?$' "$node"; or echo '')
    # A theme may have put another prompt in place of the marked one.
    if not functions -q __davit_user_prompt; or not contains -- --davit (functions fish_prompt | string split ' ')
        functions -e __davit_user_prompt
        functions -c fish_prompt __davit_user_prompt
        function fish_prompt --description 'the prompt, and its mark --davit '
            # The first statement, so that the prompt sees $status and $pipestatus.
            __davit_user_prompt
            printf '\e]133;B\a'
        end
    end
    test $__davit_native = 0; and printf '\e]133;A\a'
end

function __davit_preexec --on-event fish_preexec
    set __davit_ran 1
    test $__davit_native = 0; or return
    set -l text (string sub -l 8192 -- "$argv[1]" | string collect)
    printf '\e]133;C;cmdline_url=%s\a' (string escape --style=url -- "$text")
end

function __davit_postexec --on-event fish_postexec
    set -l exit_status $status
    set __davit_ran 0
    test $__davit_native = 0; and printf '\e]133;D;%s\a' $exit_status
end

# A line that fish cannot parse runs nothing; 127 is what fish itself exits with for one.
function __davit_posterror --on-event fish_posterror
    test $__davit_native = 0; and printf '\e]133;D;127\a'
end

# fish 3 drops a TAB of a bracketed paste; a startup command may have one in quotes.
test $__davit_native = 0; and bind -M paste \t 'commandline -i \t'
