// Package numeral reads numbers that are said in the words of one language: how they add
// up, multiply, are joined and are written together. It knows no text, only its words by
// their places.
package numeral
