// Package measure knows units: what they measure, by which words a description or a name
// says so, and how many of one are one of another. It knows no number and no parameter.
package measure
