// Package gates finds, displays and decides the gates and questions of runs and sessions. All
// interfaces decide through Gates.Decide.
package gates
