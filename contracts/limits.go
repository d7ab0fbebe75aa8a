package contracts

import "time"

// The limits of the contract. Sizes are in bytes.
const (
	MaxManifestBytes = 4 << 20
	MaxCapabilities  = 2000
	MaxSchemaDepth   = 32
	// MaxSchemaSize is the maximum number of subschemas with every $ref followed. It limits the
	// time of one validation.
	MaxSchemaSize = 20000
	// MaxSchemaBranches is the maximum number of subschemas that may apply to one value, through
	// allOf, anyOf and other branching keywords.
	MaxSchemaBranches = 800
	// MaxJSONDepth is the maximum nesting of any JSON input.
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

// The durations of the contract.
const (
	DefaultTimeout           = 10 * time.Second
	MaxTimeout               = 10 * time.Minute
	MaxExchange              = 30 * time.Second
	DefaultWaitMax           = 24 * time.Hour
	DefaultApprovalExpiry    = 7 * 24 * time.Hour
	DefaultIdempotencyWindow = 24 * time.Hour
	// ReconcileGrace is the time after the deadline of an intent during which a negative result
	// of its reconcile capability is not final.
	ReconcileGrace = 30 * time.Second
	PreviewTTL     = 24 * time.Hour
	DataTTL        = 24 * time.Hour
)

// Attempts per class of call. Responses with status 429 are not counted.
const (
	ReadAttempts       = 4
	RepeatableAttempts = 6
	DefaultChunkSize   = 10
)
