// Package faultpoint is where tests let a process die at a commit that they name.
// What is shipped holds none of it: it is built by the tag faultpoint.
package faultpoint
