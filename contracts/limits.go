package contracts

import "time"

// The limits of the contract, in one place. Sizes are in bytes.
const (
	MaxManifestBytes = 4 << 20
	MaxCapabilities  = 2000
	MaxSchemaDepth   = 32
	// MaxSchemaSize is how many places a schema may expand to when every $ref
	// is followed; it bounds the time of one validation.
	MaxSchemaSize = 20000
	// MaxSchemaBranches is how many of them may apply to one value, through
	// allOf, anyOf and the like.
	MaxSchemaBranches = 800
	// MaxJSONDepth bounds the nesting of any JSON that is read.
	MaxJSONDepth         = 100
	MaxAnswerBytes       = 32 << 20
	MaxArtifactBytes     = 16 << 20
	MaxFactsBytes        = 16 << 10
	MaxSummaryChars      = 300
	MaxEventPayloadBytes = 4 << 10
	MaxEvidenceBytes     = 8 << 10
	MaxCallBytes         = 32 << 20
	MaxNodes             = 2000
	MaxFollowupDepth     = 5
	MaxManifestTests     = 2000
	MaxMessageChars      = 32 << 10
)

// The times of the contract.
const (
	DefaultTimeout           = 10 * time.Second
	MaxTimeout               = 10 * time.Minute
	MaxExchange              = 30 * time.Second
	DefaultWaitMax           = 24 * time.Hour
	DefaultApprovalExpiry    = 7 * 24 * time.Hour
	DefaultIdempotencyWindow = 24 * time.Hour
	// ReconcileGrace is how long after an intent's deadline a negative
	// reconcile is not yet believed.
	ReconcileGrace = 30 * time.Second
	PreviewTTL     = 24 * time.Hour
	DataTTL        = 24 * time.Hour
)

// Attempts per class of call; 429 is not counted.
const (
	ReadAttempts       = 4
	RepeatableAttempts = 6
	DefaultChunkSize   = 10
)
