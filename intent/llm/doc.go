// Package llm reads messages with a language model. It offers the model the capabilities
// that fit the message best, takes the calls, plan, answer or question that it proposes,
// fits the values to the schemas, and holds writes back by the rules of rules.go. It does
// not judge whether the model's reading is likely: what protects is that only declared
// capabilities can be called, that values fit their schemas, that names are looked up,
// and that people approve exactly what will be sent.
package llm
