package expr

import (
	"container/list"
	"fmt"
	"slices"
	"strings"
	"sync"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/ext"

	"github.com/manifold-run/manifold/contracts"
)

// Limits of one expression.
const (
	maxSource   = 8 << 10
	maxCost     = 100_000
	maxResult   = 64 << 10
	maxPrograms = 4096
	maxNesting  = 64
)

// program is a compiled expression that is more than a path. It is immutable.
type program struct {
	run cel.Program
	// paths are the longest select paths of the expression, which it reads.
	paths []contracts.Path
	// untyped are faults for workflows only: arithmetic on values of unknown type.
	untyped []string
}

// environment declares the roots, the standard macros, and the extensions for strings, lists and
// math. There is no clock and no network.
var environment = sync.OnceValues(func() (*cel.Env, error) {
	options := []cel.EnvOption{
		cel.CustomTypeAdapter(adapter{}), cel.ParserExpressionSizeLimit(maxSource), cel.ParserRecursionLimit(maxNesting),
		ext.Strings(ext.StringsVersion(4)), ext.Lists(ext.ListsVersion(3), ext.ListsMaxRangeSize(contracts.MaxNodes)), ext.Math(ext.MathVersion(2)),
	}
	for _, root := range append(contracts.ExprRoots(), "parameters") {
		if root == "item" {
			options = append(options, cel.Variable(root, cel.DynType))
			continue
		}
		options = append(options, cel.Variable(root, cel.MapType(cel.StringType, cel.DynType)))
	}
	return cel.NewEnv(options...)
})

// programs caches compiled expressions by source, because a run evaluates the same few repeatedly.
var programs = programCache{byAge: list.New(), bySource: map[string]*list.Element{}}

// programCache is an LRU cache.
type programCache struct {
	mu       sync.Mutex // guards both
	byAge    *list.List
	bySource map[string]*list.Element
}

type cached struct {
	source  string
	program *program
	err     error
}

func (c *programCache) get(source string) (*program, error) {
	c.mu.Lock()
	if at, ok := c.bySource[source]; ok {
		c.byAge.MoveToFront(at)
		c.mu.Unlock()
		known, _ := at.Value.(cached)
		return known.program, known.err
	}
	c.mu.Unlock()
	made, err := compile(source)
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.bySource[source]; !ok {
		c.bySource[source] = c.byAge.PushFront(cached{source, made, err})
	}
	for c.byAge.Len() > maxPrograms {
		last := c.byAge.Back()
		forgotten, _ := last.Value.(cached)
		delete(c.bySource, forgotten.source)
		c.byAge.Remove(last)
	}
	return made, err
}

// compiling is held while an expression is checked: cel-go v0.33.2 builds the list of names for
// "undeclared reference" lazily in the environment, and reads it elsewhere without a lock.
var compiling sync.Mutex

func check(env *cel.Env, source string) (*cel.Ast, *cel.Issues) {
	compiling.Lock()
	defer compiling.Unlock() // an untrusted expression may cause a panic
	return env.Compile(source)
}

// compile parses and checks an expression.
func compile(source string) (p *program, err error) {
	defer func() {
		if r := recover(); r != nil { // an untrusted expression must not end the process
			err = contracts.Errorf(contracts.CodeInvalid, "the expression %.60q cannot be compiled: %v", source, r)
		}
	}()
	if len(source) > maxSource {
		return nil, contracts.Errorf(contracts.CodeInvalid, "the expression %.60q… has more than %d bytes", source, maxSource)
	}
	env, err := environment()
	if err != nil {
		return nil, contracts.Errorf(contracts.CodeInternal, "expressions: %w", err)
	}
	checked, issues := check(env, source)
	if issues.Err() != nil {
		return nil, contracts.Errorf(contracts.CodeInvalid, "the expression %.60q: %s", source, firstIssue(issues))
	}
	run, err := env.Program(checked, cel.CostLimit(maxCost), cel.EvalOptions(cel.OptOptimize))
	if err != nil {
		return nil, contracts.Errorf(contracts.CodeInvalid, "the expression %.60q: %w", source, err)
	}
	p = &program{run: run}
	w := walker{of: checked.NativeRep(), program: p}
	w.expr(checked.NativeRep().Expr(), nil)
	if w.unbounded != "" {
		return nil, contracts.Errorf(contracts.CodeInvalid, "the expression %.60q: %s", source, w.unbounded)
	}
	return p, nil
}

// firstIssue returns the first issue in one line, without the library's drawing.
func firstIssue(issues *cel.Issues) string {
	found := issues.Errors()
	if len(found) == 0 {
		return issues.Err().Error()
	}
	message, _, _ := strings.Cut(found[0].Message, "\n")
	if name, ok := strings.CutPrefix(message, "undeclared reference to '"); ok {
		name, _, _ = strings.Cut(name, "'")
		return fmt.Sprintf("%q is no root and no function; roots are %s", name, strings.Join(contracts.ExprRoots(), ", "))
	}
	return fmt.Sprintf("%s (at character %d)", message, found[0].Location.Column()+1)
}

// walker finds the reads of an expression, and arithmetic on operands of unknown type.
type walker struct {
	of      *ast.AST
	program *program
	// unbounded is the fault of a call that could build a text of any length.
	unbounded string
}

// maxInserted limits the length of a text that is inserted in many places, because the cost of the
// result is only known after it was built.
const maxInserted = 64

// bounds refuses calls that multiply texts of unknown length.
func (w *walker) bounds(call ast.CallExpr) {
	args := call.Args()
	switch name := call.FunctionName(); {
	case name == "replace" && len(args) >= 2:
		if old, ok := text(args[0]); !ok || old == "" {
			w.unbounded = "what replace looks for must stand in the expression, and not be empty"
		} else if with, ok := text(args[1]); !ok || len(with) > maxInserted {
			w.unbounded = fmt.Sprintf("what replace puts in must stand in the expression, with at most %d bytes", maxInserted)
		}
	case name == "join" && len(args) == 1:
		if between, ok := text(args[0]); !ok || len(between) > maxInserted {
			w.unbounded = fmt.Sprintf("what join puts between must stand in the expression, with at most %d bytes", maxInserted)
		}
	}
}

// text returns the value of a string literal.
func text(e ast.Expr) (string, bool) {
	if e.Kind() != ast.LiteralKind {
		return "", false
	}
	s, ok := e.AsLiteral().Value().(string)
	return s, ok
}

// expr walks one node; bound are the variables of the enclosing macros.
func (w *walker) expr(e ast.Expr, bound []string) {
	if path := selects(e, bound); path != nil {
		w.note(path)
		w.indexes(e, bound)
		return
	}
	switch e.Kind() {
	case ast.CallKind:
		w.arithmetic(e.AsCall())
		w.bounds(e.AsCall())
		if e.AsCall().IsMemberFunction() {
			w.expr(e.AsCall().Target(), bound)
		}
		for _, arg := range e.AsCall().Args() {
			w.expr(arg, bound)
		}
	case ast.SelectKind:
		w.expr(e.AsSelect().Operand(), bound)
	case ast.ListKind:
		for _, item := range e.AsList().Elements() {
			w.expr(item, bound)
		}
	case ast.MapKind:
		for _, entry := range e.AsMap().Entries() {
			w.expr(entry.AsMapEntry().Key(), bound)
			w.expr(entry.AsMapEntry().Value(), bound)
		}
	case ast.ComprehensionKind:
		w.comprehension(e.AsComprehension(), bound)
	case ast.StructKind, ast.IdentKind, ast.LiteralKind, ast.UnspecifiedExprKind:
	}
}

func (w *walker) comprehension(c ast.ComprehensionExpr, bound []string) {
	w.expr(c.IterRange(), bound)
	w.expr(c.AccuInit(), bound)
	inner := append(slices.Clone(bound), c.AccuVar(), c.IterVar())
	if c.HasIterVar2() {
		inner = append(inner, c.IterVar2())
	}
	w.expr(c.LoopCondition(), inner)
	w.expr(c.LoopStep(), inner)
	w.expr(c.Result(), append(slices.Clone(bound), c.AccuVar()))
}

func (w *walker) note(path contracts.Path) {
	if path[0].Name == "parameters" {
		path[0].Name = "params"
	}
	same := func(p contracts.Path) bool { return p.String() == path.String() }
	if !slices.ContainsFunc(w.program.paths, same) {
		w.program.paths = append(w.program.paths, path)
	}
}

// indexes walks the computed indexes of a path.
func (w *walker) indexes(e ast.Expr, bound []string) {
	for {
		switch {
		case e.Kind() == ast.SelectKind:
			e = e.AsSelect().Operand()
		case isIndex(e):
			if _, constant := step(e.AsCall().Args()[1]); !constant {
				w.expr(e.AsCall().Args()[1], bound)
			}
			e = e.AsCall().Args()[0]
		default:
			return
		}
	}
}

// selects returns the longest path from a root of an expression, nil if it is no path. The path
// ends at a computed index.
func selects(e ast.Expr, bound []string) contracts.Path {
	switch {
	case e.Kind() == ast.IdentKind:
		if name := e.AsIdent(); !slices.Contains(bound, name) && isRoot(name) {
			return contracts.Path{{Name: name}}
		}
	case e.Kind() == ast.SelectKind:
		if path := selects(e.AsSelect().Operand(), bound); path != nil {
			if open(e.AsSelect().Operand()) {
				return path
			}
			return append(path, contracts.PathStep{Name: e.AsSelect().FieldName()})
		}
	case isIndex(e):
		args := e.AsCall().Args()
		if path := selects(args[0], bound); path != nil {
			if next, constant := step(args[1]); constant && !open(args[0]) {
				return append(path, next)
			}
			return path
		}
	}
	return nil
}

// open reports whether a path has a computed index.
func open(e ast.Expr) bool {
	switch {
	case e.Kind() == ast.SelectKind:
		return open(e.AsSelect().Operand())
	case isIndex(e):
		_, constant := step(e.AsCall().Args()[1])
		return !constant || open(e.AsCall().Args()[0])
	default:
		return false
	}
}

func isRoot(name string) bool {
	return name == "parameters" || slices.Contains(contracts.ExprRoots(), name)
}

func isIndex(e ast.Expr) bool {
	return e.Kind() == ast.CallKind && e.AsCall().FunctionName() == operators.Index
}

func step(e ast.Expr) (contracts.PathStep, bool) {
	if e.Kind() != ast.LiteralKind {
		return contracts.PathStep{}, false
	}
	switch v := e.AsLiteral().(type) {
	case types.String:
		return contracts.PathStep{Name: string(v)}, true
	case types.Int:
		return contracts.PathStep{Index: int(v), IsIndex: true}, v >= 0
	default:
		return contracts.PathStep{}, false
	}
}

// arithmetic records operands of unknown type. A JSON number may be 3 in one run and 3.5 in the
// next, and CEL has no int + double.
func (w *walker) arithmetic(call ast.CallExpr) {
	sign, ok := map[string]string{
		operators.Add: "+", operators.Subtract: "-", operators.Multiply: "*", operators.Divide: "/",
		operators.Modulo: "%", operators.Negate: "-",
	}[call.FunctionName()]
	if !ok {
		return
	}
	for _, arg := range call.Args() {
		if w.of.GetType(arg.ID()).Kind() == types.ListKind {
			return // a list can only be added to a list
		}
	}
	for _, arg := range call.Args() {
		if kind := w.of.GetType(arg.ID()).Kind(); kind == types.DynKind || kind == types.AnyKind {
			w.program.untyped = append(w.program.untyped, fmt.Sprintf(
				"%s has an operand whose type is not known; name it, as in double(…) %s 2.0, int(…), or string(…)", quoted(sign), sign))
			return
		}
	}
}

func quoted(sign string) string { return `"` + sign + `"` }

// eval computes an expression. It returns an EvalError if the evaluation fails or the result is too
// large.
func (p *program) eval(source string, scope Scope) (value any, err error) {
	defer func() {
		if r := recover(); r != nil {
			value, err = nil, contracts.Errorf(contracts.CodeInvalid, "the expression %.60q failed: %v", source, r)
		}
	}()
	values := map[string]any{}
	for _, path := range p.paths {
		root, ok := scope[path.Root()]
		if !ok && path.Root() == "params" {
			root, ok = scope["parameters"]
		}
		switch {
		case ok && root != nil:
			values[path.Root()] = adapter{}.NativeToValue(root)
		case path.Root() != "item":
			values[path.Root()] = map[string]any{}
		}
	}
	if params, ok := values["params"]; ok {
		values["parameters"] = params
	}
	out, _, err := p.run.Eval(values)
	if err != nil {
		return nil, &EvalError{Source: source, Cause: err}
	}
	value, err = toJSON(out)
	if err != nil {
		return nil, &EvalError{Source: source, Cause: err}
	}
	raw, err := contracts.Canonical(value)
	if err != nil {
		return nil, &EvalError{Source: source, Cause: err}
	}
	if len(raw) > maxResult {
		return nil, &EvalError{Source: source, Cause: fmt.Errorf("it gives %d bytes; %d are allowed", len(raw), maxResult)}
	}
	return contracts.Normalize(value)
}

// EvalError means that an expression could not be computed from the given values.
type EvalError struct {
	Source string
	Cause  error
}

// Error returns a message with the expression and the cause.
func (e *EvalError) Error() string {
	return fmt.Sprintf("${%s} cannot be computed: %s", shortened(e.Source), e.Cause)
}

// Unwrap returns the cause with the code invalid.
func (e *EvalError) Unwrap() error { return contracts.Errorf(contracts.CodeInvalid, "%w", e.Cause) }

func shortened(source string) string {
	if runes := []rune(source); len(runes) > 80 {
		return string(runes[:79]) + "…"
	}
	return source
}
