export function Gate() { return null; }
