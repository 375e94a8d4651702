package tab

// Where each of the 42 known cases of closing a tab with a close plan is tested, or why it
// cannot occur here. "script" is internal/cli/testdata/script.
//
//	 1  several closed by one act           TestCloseSelectors, BenchmarkClose50
//	 2  some of them without a plan         script tab-undo (its close of tabs with and without)
//	 3  warning cancelled                   script tab-close-needs-confirmation
//	 4  warning confirmed, tabs moved       TestCloseSelectors: the confirmed list holds
//	 5  dialog of one tab bypasses the plan cannot occur: tab.Service.Close is the only way
//	 5a dialog closes another set           TestCloseSelectors: details.tabs is the list, by id
//	 6  last tab of a window                cannot occur: there are no windows; the host stays
//	 7  window close button                 cannot occur: a page that closes tells the host nothing
//	 8  the host is stopped or killed       daemon TestKilledCleanup, script cleanup-host-killed
//	 9  last shell exits by itself          script tab-process-exit
//	10  last pane closed                    close of its tab: ClosePane; no test of its own yet
//	11  one of several panes closed         TestUndoPane (no cleanup is queued)
//	12  last pane moved to another tab      TestMovePane
//	13  tab moved                           TestMovePane, TestGroupsAndPins: it is the same row
//	14  replaced tab                        cannot occur: nothing replaces a tab
//	15  undo after the cleanup              script tab-undo
//	16  undo while it runs                  cleanup TestTakeBack; sent home again when it ends: not tested yet
//	17  closed again after undo             script tab-undo
//	18  undo after it failed                the plan stays taken as in 17; no test of its own yet
//	19  the name opened anew meanwhile      workspace's lock, one cleanup at a time; no test of its own yet
//	20  two tabs on one worktree            TestUsedBy, script cleanup-held-failing
//	21  processes still in the directory    script config-worktree-close; stillEnding has no test of its own yet
//	22  untracked or modified files         script config-worktree-close, workspace remove_test
//	23  directory missing at close          cleanup cleanup_test
//	24  relative directory                  tabconfig: resolved when it opens (T3.3)
//	25  directory with ~                    tabconfig: expanded when it opens (T3.3)
//	26  commands = []                       tabconfig load_test
//	27  [on_close] without commands         tabconfig load_test
//	28  unknown key                         tabconfig load_test
//	29  pane tree does not resolve          cannot occur: such a file is not loaded (T1.3)
//	30  open command failed, then close     stop at the first failure: cleanup cleanup_test
//	31  parameter without a value           cannot occur: it is asked for, or its default counts (T2.1)
//	32  unknown placeholder                 tabconfig load_test: a warning, and it stays literal
//	33  config edited while open            the plan is stored with the tab (T5.1); no test of its own yet
//	34  restored tab                        keeps its plan, other than in the case: script cleanup-host-killed
//	35  notice pushed out                   TestFailureNotice: persistent, and nothing pushes notices out
//	36  nobody there to be told             notices are rows: script cleanup-host-killed
//	37  a command never ends                cleanup cleanup_test (time-out)
//	38  a command reads stdin               cleanup cleanup_test (no stdin)
//	39  huge output                         cleanup cleanup_test (head and tail)
//	40  no panes left                       the plan is the tab's, not a pane's; no test of its own yet
//	41  name only in on_close               tabconfig: NeedsBranchName (T3.3)
