// Package verdict computes the verdict of a run, or of a part of it, from its rows. The opinion of
// a model can only lower it. The package also selects what a model reads to judge a run or to word
// its answer, in compact form without raw output, and checks the wording. It calls no model and
// evaluates no step.
package verdict
