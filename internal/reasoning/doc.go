// Package reasoning calls language models, if any are configured: for the output of a reason
// step, for reading a message, for a verdict. It builds prompts from contracts.Compact values only,
// constrains and validates the answers, allows one repair, and accounts for every call.
//
// The output of a model is data. This package decides nothing: a reading is checked like the local
// matcher's, an output is validated against its schema, and a verdict can only be lowered. It does
// no I/O; package model implements Engine.
package reasoning
