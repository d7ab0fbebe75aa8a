export function Print() { return null; }
