import { useQuery } from '@tanstack/react-query';
import { session } from './api/queries';
import type { Session } from './api/types';

const nobody: Session = { user: { id: '', name: '', roles: [], key_id: '' }, csrf: '', expires_at: '', ends_at: '' };

/** useSession is who is signed in; the shell shows no page to nobody. */
export function useSession(): Session {
  return useQuery(session).data ?? nobody;
}
