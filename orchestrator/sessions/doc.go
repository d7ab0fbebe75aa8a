// Package sessions controls who may open, read, follow, rename and delete a session. A session that
// the caller may not see is reported as not found.
package sessions
