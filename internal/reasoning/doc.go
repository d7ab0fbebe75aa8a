// Package reasoning asks models, where there is one: for the output of a reason
// step, for a reading of a message, for a verdict. It builds prompts of
// contracts.Compact values alone, constrains and validates what comes back,
// lets it be repaired once, and accounts for every call.
//
// The output of a model is data. This package decides nothing: a reading passes the
// same judgement as the local matcher's, an output is validated against its
// schema, a verdict can only be lowered. It does no I/O; engines implement
// Engine in package model.
package reasoning
