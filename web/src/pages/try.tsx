export function Try() { return null; }
