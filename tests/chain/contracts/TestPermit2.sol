// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;
// Test double for Permit2's SignatureTransfer.permitWitnessTransferFrom and for the two
// x402 proxies. Written for these tests from the public ABI and EIP-712 types; constructor-less.

interface IERC20Min {
    function transferFrom(address from, address to, uint256 value) external returns (bool);
    function permit(address o, address s, uint256 v, uint256 d, uint8 sv, bytes32 r, bytes32 ss) external;
}

struct TokenPermissions { address token; uint256 amount; }
struct PermitTransferFrom { TokenPermissions permitted; uint256 nonce; uint256 deadline; }
struct SignatureTransferDetails { address to; uint256 requestedAmount; }

contract TestPermit2 {
    error SignatureExpired(uint256 signatureDeadline);
    error InvalidAmount(uint256 maxAmount);
    error InvalidNonce();
    error InvalidSigner();
    error InvalidSignatureLength();

    mapping(address => mapping(uint256 => uint256)) public nonceBitmap;

    function DOMAIN_SEPARATOR() public view returns (bytes32) {
        return keccak256(abi.encode(
            keccak256("EIP712Domain(string name,uint256 chainId,address verifyingContract)"),
            keccak256("Permit2"), block.chainid, address(this)
        ));
    }

    function permitWitnessTransferFrom(
        PermitTransferFrom calldata permit,
        SignatureTransferDetails calldata details,
        address owner,
        bytes32 witness,
        string calldata witnessTypeString,
        bytes calldata signature
    ) external {
        if (block.timestamp > permit.deadline) revert SignatureExpired(permit.deadline);
        if (details.requestedAmount > permit.permitted.amount) revert InvalidAmount(permit.permitted.amount);
        uint256 bit = 1 << uint8(permit.nonce);
        uint256 flipped = nonceBitmap[owner][permit.nonce >> 8] ^= bit;
        if (flipped & bit == 0) revert InvalidNonce();
        bytes32 typeHash = keccak256(abi.encodePacked(
            "PermitWitnessTransferFrom(TokenPermissions permitted,address spender,uint256 nonce,uint256 deadline,",
            witnessTypeString
        ));
        bytes32 tokenHash = keccak256(abi.encode(
            keccak256("TokenPermissions(address token,uint256 amount)"), permit.permitted.token, permit.permitted.amount));
        bytes32 structHash =
            keccak256(abi.encode(typeHash, tokenHash, msg.sender, permit.nonce, permit.deadline, witness));
        _verify(owner, keccak256(abi.encodePacked("\x19\x01", DOMAIN_SEPARATOR(), structHash)), signature);
        require(IERC20Min(permit.permitted.token).transferFrom(owner, details.to, details.requestedAmount),
            "TRANSFER_FROM_FAILED");
    }

    function _verify(address owner, bytes32 digest, bytes calldata sig) internal pure {
        if (sig.length != 65) revert InvalidSignatureLength();
        address rec = ecrecover(digest, uint8(sig[64]), bytes32(sig[0:32]), bytes32(sig[32:64]));
        if (rec == address(0) || rec != owner) revert InvalidSigner();
    }
}

abstract contract TestX402ProxyBase {
    TestPermit2 public constant PERMIT2 = TestPermit2(0x000000000022D473030F116dDEE9F6B43aC78BA3);
    event Settled();
    event SettledWithPermit();
    error InvalidDestination();
    error InvalidOwner();
    error InvalidAmount();
    error PaymentTooEarly();
    error Permit2612AmountMismatch();

    struct EIP2612Permit { uint256 value; uint256 deadline; bytes32 r; bytes32 s; uint8 v; }

    function _settle(
        PermitTransferFrom calldata permit, uint256 amount, address owner, address to, uint256 validAfter,
        bytes32 witnessHash, string memory witnessType, bytes calldata signature
    ) internal {
        if (amount == 0) revert InvalidAmount();
        if (owner == address(0)) revert InvalidOwner();
        if (to == address(0)) revert InvalidDestination();
        if (block.timestamp < validAfter) revert PaymentTooEarly();
        PERMIT2.permitWitnessTransferFrom(
            permit, SignatureTransferDetails(to, amount), owner, witnessHash, witnessType, signature);
    }

    function _permit2612(address token, address owner, EIP2612Permit calldata p, uint256 amount) internal {
        if (p.value != amount) revert Permit2612AmountMismatch();
        try IERC20Min(token).permit(owner, address(PERMIT2), p.value, p.deadline, p.v, p.r, p.s) {} catch {}
    }
}

contract TestX402ExactProxy is TestX402ProxyBase {
    struct Witness { address to; uint256 validAfter; }
    string constant WT =
        "Witness witness)TokenPermissions(address token,uint256 amount)Witness(address to,uint256 validAfter)";

    function _hash(Witness calldata w) internal pure returns (bytes32) {
        return keccak256(abi.encode(keccak256("Witness(address to,uint256 validAfter)"), w.to, w.validAfter));
    }

    function settle(PermitTransferFrom calldata permit, address owner, Witness calldata w, bytes calldata sig) external {
        _settle(permit, permit.permitted.amount, owner, w.to, w.validAfter, _hash(w), WT, sig);
        emit Settled();
    }

    function settleWithPermit(
        EIP2612Permit calldata p, PermitTransferFrom calldata permit, address owner, Witness calldata w, bytes calldata sig
    ) external {
        _permit2612(permit.permitted.token, owner, p, permit.permitted.amount);
        _settle(permit, permit.permitted.amount, owner, w.to, w.validAfter, _hash(w), WT, sig);
        emit SettledWithPermit();
    }
}

contract TestX402UptoProxy is TestX402ProxyBase {
    error UnauthorizedFacilitator();
    error AmountExceedsPermitted();
    struct Witness { address to; address facilitator; uint256 validAfter; }
    string constant WT =
        "Witness witness)TokenPermissions(address token,uint256 amount)Witness(address to,address facilitator,uint256 validAfter)";

    function _hash(Witness calldata w) internal pure returns (bytes32) {
        return keccak256(abi.encode(
            keccak256("Witness(address to,address facilitator,uint256 validAfter)"), w.to, w.facilitator, w.validAfter));
    }

    function settle(
        PermitTransferFrom calldata permit, uint256 amount, address owner, Witness calldata w, bytes calldata sig
    ) external {
        if (msg.sender != w.facilitator) revert UnauthorizedFacilitator();
        if (amount > permit.permitted.amount) revert AmountExceedsPermitted();
        _settle(permit, amount, owner, w.to, w.validAfter, _hash(w), WT, sig);
        emit Settled();
    }
}
