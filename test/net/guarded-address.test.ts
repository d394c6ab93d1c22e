import { describe, expect, it } from 'vitest';
import { AddressGuard } from '../../src/net/guarded-address.ts';

const strict = new AddressGuard({ allowPrivate: false, allowAddresses: [] });

describe('AddressGuard.kindOf()', () => {
  it.each([
    '0.0.0.0',
    '0.1.2.3',
    '10.0.0.1',
    '100.64.0.1',
    '100.127.255.255',
    '127.0.0.1',
    '127.255.255.254',
    '169.254.1.1',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.1',
    '192.0.2.1',
    '192.88.99.1',
    '192.168.1.1',
    '198.18.0.1',
    '198.51.100.1',
    '203.0.113.1',
    '224.0.0.1',
    '239.255.255.255',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    'fc00::1',
    'fd12:3456::1',
    'fe80::1',
    'fe80::1%eth0',
    'fec0::1',
    'ff02::1',
    '100::1',
    '2001:db8::1',
    '3fff::1',
    '4000::1',
    '::127.0.0.1',
    '::ffff:10.0.0.1',
    '::ffff:a00:1',
    '::ffff:0:10.0.0.1',
    '64:ff9b::10.0.0.1',
    '64:ff9b::7f00:1',
    '64:ff9b:1::8.8.8.8',
    '2002:7f00:1::',
    '2002:c0a8:101::1',
    // Teredo: a public server and a private client with inverted bits, then the other way round.
    '2001:0:808:808::3f57:fefe',
    '2001:0:a00:1::f7f7:f7f7',
    '2001:4860::5efe:10.0.0.1',
    'not an address',
    '',
  ])('returns "private" for the address %s', (address) => {
    expect(strict.kindOf(address)).toBe('private');
    expect(strict.allows(address)).toBe(false);
  });

  it.each([
    '1.1.1.1',
    '8.8.8.8',
    '100.63.255.255',
    '100.128.0.0',
    '172.15.0.1',
    '172.32.0.1',
    '192.0.1.1',
    '198.20.0.1',
    '223.255.255.255',
    '2606:4700:4700::1111',
    '2a00:1450::1',
    '::ffff:8.8.8.8',
    '64:ff9b::808:808',
    '2002:808:808::1',
  ])('returns "public" for the address %s', (address) => {
    expect(strict.kindOf(address)).toBe('public');
    expect(strict.allows(address)).toBe(true);
  });

  it.each([
    '169.254.169.254',
    '169.254.170.2',
    '100.100.100.200',
    '192.0.0.192',
    '168.63.129.16',
    'fd00:ec2::254',
    'fd00:0ec2:0:0:0:0:0:0254',
    '::ffff:169.254.169.254',
    '::ffff:a9fe:a9fe',
    '::169.254.169.254',
    '64:ff9b::a9fe:a9fe',
    '64:ff9b:1::169.254.169.254',
    '169.254.0.23',
    'fe80::a9fe:a9fe%eth0',
    '2002:a9fe:a9fe::',
    '2001:0:a9fe:a9fe::f7f7:f7f7',
    '2001:0:808:808::5601:5601',
  ])('returns "metadata" for the address %s, which no setting allows', (address) => {
    expect(strict.kindOf(address)).toBe('metadata');
    expect(new AddressGuard({ allowPrivate: true, allowAddresses: ['0.0.0.0/0', '::/0'] }).allows(address)).toBe(false);
  });
});

describe('AddressGuard.allows()', () => {
  it('allows listed addresses in every notation, but not the next or previous addresses', () => {
    const guard = new AddressGuard({
      allowPrivate: false,
      allowAddresses: ['10.1.0.0/16', '127.0.0.1', 'fd00:1::/32'],
    });
    for (const address of [
      '10.1.2.3',
      '::ffff:10.1.2.3',
      '64:ff9b::a01:203',
      '2002:a01:203::',
      '127.0.0.1',
      'fd00:1::9',
    ])
      expect(guard.allows(address), address).toBe(true);
    for (const address of ['10.2.0.1', '::ffff:10.2.0.1', '127.0.0.2', 'fd00:2::9', '::1'])
      expect(guard.allows(address), address).toBe(false);
  });

  it('allows all private addresses if the config allows private addresses', () => {
    const guard = new AddressGuard({ allowPrivate: true, allowAddresses: [] });
    for (const address of ['10.0.0.1', '::1', '127.0.0.1', '169.254.1.1']) expect(guard.allows(address)).toBe(true);
  });
});

describe('AddressGuard.isMetadataHost()', () => {
  it.each(['metadata.google.internal', 'METADATA.google.internal.', 'metadata', 'instance-data'])(
    'returns true for %s',
    (host) => {
      expect(strict.isMetadataHost(host)).toBe(true);
    },
  );

  it('returns false for a name that only begins with the word metadata', () => {
    expect(strict.isMetadataHost('metadata.example.com')).toBe(false);
  });
});
