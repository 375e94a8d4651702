// Package intent reads what a launch is asked for and what one has answered, strictly
// (spec launch L1, L2.4): exact names, no unknown field, no null where none may be. It
// also says what makes two launches the same one (L6.2).
//
// It has no state and no goroutine and touches neither disk nor clock: what only a host
// can know (whether an agent, a workspace, a directory is there) is not asked here. It
// refuses by name what this version does not serve, and lets no value of accountEnv out
// in clear.
package intent
