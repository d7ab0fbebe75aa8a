export function Domain() { return null; }
