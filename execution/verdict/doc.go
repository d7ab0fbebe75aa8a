// Package verdict judges what a run, or a part of it, came to, by its rows alone; the
// verdict of a model can only lower it. It also says what a model reads of a run to judge
// it or to word its answer, in compact form and never raw output, and checks that wording.
// It asks no model and evaluates no step.
package verdict
