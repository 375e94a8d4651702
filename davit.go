// Package davit is the vocabulary of davit: the identifiers, values and errors that
// every part of the program and every client speaks. It imports nothing but the
// standard library, starts nothing and does no I/O.
//
// Wire names are JSON in camelCase; stored and wire enums are strings. A type here is
// what the API answers, what the store keeps and what the page shows: there is no
// second shape of the same thing.
package davit

// TabID names one tab of one host, for ever: "t_" and 16 hex digits.
type TabID string

// PaneID names one pane, for ever: "p_" and 16 hex digits. It is also the name of the
// pane's folder below the state directory and what the keeper calls the pane.
type PaneID string

// GroupID names one group of tabs, for ever: "g_" and 16 hex digits.
type GroupID string

// HostID names one davit home on one machine. Ids and events carry it from the first
// day although there is only one host yet.
type HostID string

// PaneKey is "tabId:paneId", the identity that a launch gives its pane (spec launch L1).
type PaneKey string

// NewPaneKey joins the two halves.
func NewPaneKey(tab TabID, pane PaneID) PaneKey { return PaneKey(string(tab) + ":" + string(pane)) }

// Version is the build's version. The linker sets it for releases.
var Version = "0.1.0-dev"
