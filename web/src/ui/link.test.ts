import { expect, test } from 'vitest';
import { opened } from './link';

test('a link of a server is opened at https or at this machine, and nowhere else', () => {
  expect(opened('https://shop.example/login/A?x=1#y')).toBe('https://shop.example/login/A?x=1#y');
  expect(opened('http://127.0.0.1:8080/bridges/office/login/ABC')).toBe(
    'http://127.0.0.1:8080/bridges/office/login/ABC',
  );
  expect(opened('http://localhost:1/')).toBe('http://localhost:1/');
  for (const bad of [
    'http://shop.example/',
    'javascript:alert(1)',
    'JavaScript://127.0.0.1/%0aalert(1)',
    'data:text/html,x',
    'file:///etc/hosts',
    'https://bank.example@evil.example/',
    'http://127.0.0.1.evil.example/',
    '//evil.example',
    '/approvals',
    '',
    7,
    undefined,
  ]) {
    expect(opened(bad)).toBeUndefined();
  }
});

test('letters that look like others are told apart', () => {
  expect(opened('https://b\u0430nk.example/')).toBe('https://xn--bnk-6cd.example/');
});
