// Package webhook sends notifications, such as an interrupt that waits for a
// person, to the URLs that callers registered. What to send stands in an
// outbox that is written with the interrupt itself, so a crash loses nothing;
// a receiver may get a delivery twice and never loses one that it keeps
// answering within a day. It is not a general event stream.
//
// # What a receiver gets
//
// A POST of JSON with these headers:
//
//	Content-Type: application/json
//	Manifold-Delivery:  the id of the delivery, the same in every attempt
//	Manifold-Timestamp: seconds since 1970, of this attempt
//	Manifold-Key-Id:    which key signed it
//	Manifold-Signature: v1=<hex>
//
// The signature is HMAC-SHA256, with the key of that id, over the timestamp,
// a full stop, and the body exactly as received:
//
//	v1 = hex(hmac_sha256(key, timestamp + "." + body))
//
// A receiver compares it in constant time, refuses a timestamp that is more
// than five minutes away, and drops deliveries that it has seen. Any 2xx means
// received; 410 means that nothing more is wanted; everything else, redirects
// included, is tried again with growing pauses.
//
// # Where it may send
//
// URLs come from callers, so every dial passes a Guard, which judges the
// resolved address and therefore cannot be fooled by a name that changes
// between check and use.
package webhook
