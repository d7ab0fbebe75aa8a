// Package gates has every question of a run or a session: who may see it, who
// may decide it, and the one function that decides.
package gates
