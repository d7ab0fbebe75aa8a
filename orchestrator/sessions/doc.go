// Package sessions says who may open, see, follow, rename and remove a
// conversation. What somebody may not see reads like what does not exist.
package sessions
