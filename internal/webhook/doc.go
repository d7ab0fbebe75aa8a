// Package webhook sends notifications, such as an interrupt that waits for a person, to URLs that
// callers registered. The deliveries are stored in an outbox in the transaction that creates the
// interrupt, so a crash loses none. A delivery may arrive twice. It is retried for a day. The
// package is not a general event stream.
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
// A receiver must compare it in constant time, reject a timestamp that differs by more than five
// minutes, and ignore deliveries that it has seen. Any 2xx acknowledges the delivery; 410 ends
// its retries; everything else, including redirects, is retried with growing pauses.
//
// # Where it may send
//
// URLs come from callers, so every dial passes a Guard. It checks the resolved address and
// therefore cannot be bypassed by a name that changes between check and use.
package webhook
