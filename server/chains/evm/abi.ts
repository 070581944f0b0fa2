import { parseAbi } from "viem";

/** EIP-20, EIP-3009 in both signature forms, and the errors such tokens revert with. */
export const TOKEN_ABI = parseAbi([
  "function balanceOf(address) view returns (uint256)",
  "function allowance(address,address) view returns (uint256)",
  "function decimals() view returns (uint8)",
  "function approve(address spender, uint256 value)",
  "function transfer(address to, uint256 value)",
  "function transferFrom(address from, address to, uint256 value)",
  "function name() view returns (string)",
  "function version() view returns (string)",
  "function DOMAIN_SEPARATOR() view returns (bytes32)",
  "function authorizationState(address authorizer, bytes32 nonce) view returns (bool)",
]);

/** EIP-3009 `transferWithAuthorization` with a signature in three parts, as the standard has it. */
export const TRANSFER_VRS_ABI = parseAbi([
  "function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)",
]);

/** The overload with a signature of any length, which contract accounts need. */
export const TRANSFER_BYTES_ABI = parseAbi([
  "function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)",
]);

/** Permit2 `SignatureTransfer` and its unordered nonces. */
export const PERMIT2_ABI = parseAbi([
  "function permitTransferFrom(((address token, uint256 amount) permitted, uint256 nonce, uint256 deadline) permit, (address to, uint256 requestedAmount) transferDetails, address owner, bytes signature)",
  "function nonceBitmap(address owner, uint256 wordPosition) view returns (uint256)",
]);

/** Errors of tokens and Permit2 that name a reason; names decide, never texts. */
export const REVERT_ABI = parseAbi([
  "error Error(string)",
  "error AuthorizationUsedOrCanceled(address authorizer, bytes32 nonce)",
  "error ERC3009UsedAuthorization(address authorizer, bytes32 nonce)",
  "error AuthorizationExpired()",
  "error ERC3009InvalidAuthorizationTime(uint256 validAfter, uint256 validBefore)",
  "error AuthorizationNotYetValid()",
  "error InvalidSignature()",
  "error ERC3009InvalidSignature()",
  "error Blacklisted(address account)",
  "error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)",
  "error ERC20InsufficientAllowance(address spender, uint256 allowance, uint256 needed)",
  "error ECDSAInvalidSignature()",
  "error ECDSAInvalidSignatureS(bytes32 s)",
  "error ECDSAInvalidSignatureLength(uint256 length)",
  "error InvalidNonce()",
  "error SignatureExpired(uint256 signatureDeadline)",
  "error InvalidAmount(uint256 maxAmount)",
  "error InvalidSigner()",
  "error InvalidContractSignature()",
  "error InvalidSignatureLength()",
]);

export const FEED_ABI = parseAbi([
  "function latestRoundData() view returns (uint80 roundId, int256 answer, uint256 startedAt, uint256 updatedAt, uint80 answeredInRound)",
  "function decimals() view returns (uint8)",
]);

export const SANCTIONS_ABI = parseAbi(["function isSanctioned(address) view returns (bool)"]);
