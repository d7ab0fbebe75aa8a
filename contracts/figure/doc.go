// Package figure has the words for what runs tell of themselves, and for what a site has
// switched on for them. It stands below all other rooms.
package figure
